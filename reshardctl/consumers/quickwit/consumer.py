"""Quickwit 0.7 to 0.9 on its metastore: one Kinesis source of one index, as one `Consumer`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from reshardctl.consumers.base import Candidate, Cannot, Hold, Incarnation, Switch
from reshardctl.consumers.quickwit import behaviour, encode, odd, settled
from reshardctl.consumers.quickwit.app import App, applications, check_options
from reshardctl.consumers.quickwit.positions import earlier_incarnation, of_wrong_stream
from reshardctl.consumers.quickwit.releases import note_of
from reshardctl.consumers.quickwit.rows import Checkpoint, parse, shard_of
from reshardctl.consumers.quickwit.spec import QUICKWIT
from reshardctl.consumers.quickwit.switching import switch
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Image,
    Line,
    Odd,
    Replay,
    ShardId,
    SideTable,
    Step,
    Stream,
    Wanted,
    canonical,
    decode,
)


class Quickwit:
    """See `Consumer`. index, source: the only ones that are meant, "" for whichever reads the
    stream."""

    spec = QUICKWIT

    def __init__(self, index: str = "", source: str = "") -> None:
        self.index, self.source = index, source

    def bound(self, options: Mapping[str, str], _medium: str = "") -> Quickwit:
        """With the index and the source of a locator."""
        check_options(options)
        return Quickwit(options.get("index", ""), options.get("source", ""))

    def understand(self, options: Mapping[str, str]) -> None:
        """By the applications that they leave possible on an empty store."""
        self.candidates(self.parse(()), options)

    def parse(self, images: Iterable[Image], stream: Stream | None = None) -> Checkpoint:
        """The one source that reads the stream, and its positions."""
        return parse(images, stream, self.index, self.source)

    def side_tables(self, target: str) -> tuple[SideTable, ...]:  # noqa: ARG002
        """None."""
        return ()

    def shard_of(self, key: str) -> ShardId:
        """What is behind index and source."""
        return shard_of(key)

    def empty(self, checkpoint: Checkpoint) -> bool:
        """Not where the source itself is stored: it names its stream, positions or not. Without
        any it reads every shard from its beginning, as it is meant to."""
        return not checkpoint.source

    def others(self, _checkpoint: Checkpoint) -> dict[str, str]:
        """None: only the one source's positions are read."""
        return {}

    def positions(self, checkpoint: Checkpoint) -> dict[ShardId, str]:
        """Entries as stored."""
        return {shard: row.text for shard, row in checkpoint.rows.items()}

    def odd(self, lineage: Lineage, checkpoint: Checkpoint) -> list[Odd]:
        """Oddities of the entries themselves, and of entries against the lineage."""
        return odd.odd(lineage, checkpoint)

    def incarnation(self, lineage: Lineage, checkpoint: Checkpoint) -> Incarnation:
        """By the times of every decodable number; without one, the source's word that it reads
        this stream stands."""
        texts = {s: r.text for s, r in checkpoint.rows.items() if decode(r.text.removeprefix("~"))}
        if (wrong := of_wrong_stream(lineage, texts)) is not None:
            raise WrongStream(
                f"source {checkpoint.key}: {texts[wrong]} is no number of stream "
                f"{lineage.stream.name}, and younger than it: the source reads another stream",
                "look for another account or region of that stream's name",
            )
        if texts and all(earlier_incarnation(lineage, text) for text in texts.values()):
            return Incarnation.RECREATED
        return Incarnation.SAME

    def candidates(
        self, checkpoint: Checkpoint, options: Mapping[str, str]
    ) -> list[Candidate]:
        """The releases that can read what the last writer left."""
        apps = applications(checkpoint.version, options, checkpoint.migration)
        return [Candidate(app, app.options(), note_of(options.get("release"))) for app in apps]

    def settled(self, lineage: Lineage, checkpoint: Checkpoint, app: App) -> Line:
        """Every position at its word."""
        return settled.settled(lineage, checkpoint, app)

    def replay(self, lineage: Lineage, checkpoint: Checkpoint, app: App) -> Replay:
        """The next start."""
        return behaviour.replay(lineage, checkpoint, app)

    def encode(
        self, lineage: Lineage, checkpoint: Checkpoint, want: Wanted, app: App,
        leave: Collection[ShardId],
    ) -> list[Step] | Cannot:
        """Entries that hold the line."""
        return encode.encode(lineage, checkpoint, want, app, leave)

    def bootstrap(
        self, lineage: Lineage, want: Wanted, app: App  # noqa: ARG002
    ) -> list[Step]:
        """Nothing: a source that is stored is never empty, see `empty`."""
        return []

    def rebuild(
        self, lineage: Lineage, checkpoint: Checkpoint, want: Wanted, app: App
    ) -> list[Step] | Cannot:
        """The source that is there, moved: see `empty`."""
        return self.encode(lineage, checkpoint, want, app, frozenset())

    def footprint(self, image: Image) -> dict[str, Any]:
        """All that a row holds, but for whether the source is enabled: that is switched off to be
        repaired."""
        kept: dict[str, Any] = dict(canonical(image.attributes))
        kept.pop("enabled", None)
        return kept

    def family(self, lineage: Lineage, keys: Collection[str]) -> set[str]:
        """The source's own row and all of its positions: any one brings down all of it."""
        found: set[str] = set(keys)
        for source in {"/".join(key.split("/", 2)[:2]) for key in keys}:
            found.add(source)
            found.update(f"{source}/{shard}" for shard in lineage)
        return found

    def watch_needed(self, _options: Mapping[str, str]) -> float:
        """None: whether it runs is told by a switch, see `switch`."""
        return 0.0

    def signs_of_life(self, images: Iterable[Image]) -> dict[str, str]:  # noqa: ARG002
        """None that could be trusted, see `Spec.watchable`."""
        return {}

    def switch(self, images: Iterable[Image]) -> Switch | None:
        """How the sources that are meant are switched, where that stops them."""
        return switch(images, self.index, self.source)

    def holds(self, checkpoint: Checkpoint) -> dict[ShardId, Hold]:
        """Nobody's name is stored."""
        return {
            shard: Hold("", row.text, row.text) for shard, row in checkpoint.rows.items()
        }

    def spent(self, _images: Iterable[Image], _keys: Collection[str]) -> dict[str, str]:
        """None: whatever it goes past, it writes into the row itself."""
        return {}

    def excluded_by(self, seconds: float) -> str:
        """What a silent watch rules out."""
        return f"{seconds:g} s without a new position rule out nothing: see whether a node runs"
