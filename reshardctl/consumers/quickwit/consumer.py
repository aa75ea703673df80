"""Quickwit 0.7 to 0.9 on its metastore: one Kinesis source of one index, as one `Consumer`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from reshardctl.consumers.base import BaseConsumer, Candidate, Cannot, EnabledState, Incarnation
from reshardctl.consumers.quickwit import encode
from reshardctl.consumers.quickwit.behaviour import processed, simulate_start
from reshardctl.consumers.quickwit.document import NOT_LOADED
from reshardctl.consumers.quickwit.releases import App, applications, check_options, note_of
from reshardctl.consumers.quickwit.rows import (
    Checkpoint,
    anomalies,
    enabled_state,
    is_own,
    of_another_stream,
    parse,
    shard_of,
)
from reshardctl.consumers.quickwit.spec import QUICKWIT
from reshardctl.consumers.quickwit.splice import MENDED
from reshardctl.consumers.sequence_numbers import of_wrong_stream, spelled_cut
from reshardctl.errors import NotLoaded, WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import (
    Cut,
    Image,
    ShardId,
    Step,
    Stream,
    TargetFrontier,
    canonical,
    is_number,
)


class Quickwit(BaseConsumer[Checkpoint, App]):
    """See `BaseConsumer`. index, source: the judged ones, "" for those that read the stream."""

    spec = QUICKWIT
    shard_of = staticmethod(shard_of)
    anomalies = staticmethod(anomalies)
    processed = staticmethod(processed)
    simulate_start = staticmethod(simulate_start)
    encode = staticmethod(encode.encode)

    def __init__(self, index: str = "", source: str = "") -> None:
        self.index, self.source = index, source

    def for_options(self, options: Mapping[str, str], _medium: str = "", /) -> Quickwit:
        """Returns the consumer for the index and the source of a locator."""
        check_options(options)
        return Quickwit(options.get("index", ""), options.get("source", ""))

    def parse(self, images: Iterable[Image], stream: Stream | None = None, /) -> Checkpoint:
        """Parse the one source that reads the stream, and its positions."""
        return parse(images, stream, self.index, self.source)

    def empty(self, checkpoint: Checkpoint, /) -> bool:
        """Whether no source is stored; one without positions reads every shard, as meant."""
        return not checkpoint.source and not checkpoint.refused

    def positions(self, checkpoint: Checkpoint, /) -> dict[ShardId, str]:
        """Entries as stored."""
        return {shard: row.text for shard, row in checkpoint.rows.items()}

    def texts(self, checkpoint: Checkpoint, /) -> dict[ShardId, str]:
        """Entries without the mark of an end."""
        return {shard: row.text.removeprefix("~") for shard, row in checkpoint.rows.items()}

    def stored_cuts(
        self, lineage: Lineage, checkpoint: Checkpoint, _app: App, /
    ) -> dict[ShardId, Cut]:
        """Numbers; an empty entry is the beginning, and a word is none.

        Raises NotLoaded where the text could not be read: what it holds is not known.
        """
        if checkpoint.refused and "stream" not in checkpoint.state.attributes:
            raise NotLoaded(f"{NOT_LOADED}: {checkpoint.refused}", MENDED)
        return {
            shard: cut for shard, row in checkpoint.rows.items()
            if (not row.text or is_number(row.text))
            and (cut := spelled_cut(lineage, shard, row.text or "TRIM_HORIZON")) is not None
        }

    def incarnation(self, lineage: Lineage, checkpoint: Checkpoint, /) -> Incarnation:
        """Judged by numbers; without any, the source's configuration names this stream."""
        by_numbers = super().incarnation(lineage, checkpoint)
        return Incarnation.SAME if by_numbers is Incarnation.AMBIGUOUS else by_numbers

    def of_wrong_stream(
        self, lineage: Lineage, numbers: Mapping[ShardId, str], /
    ) -> ShardId | None:
        """Likewise, by Quickwit's own reading of a position."""
        return of_wrong_stream(lineage, numbers, is_own, of_another_stream)

    def wrong_stream(self, checkpoint: Checkpoint, _shard: ShardId, why: str, /) -> WrongStream:
        """The error names the source, whose configuration has no account."""
        return WrongStream(
            f"source {checkpoint.key}: {why}: the source reads another stream",
            "look for another account or region of that stream's name",
        )

    def candidates(self, checkpoint: Checkpoint, options: Mapping[str, str], /) -> list[Candidate]:
        """The releases that can read what the last writer left."""
        apps = applications(checkpoint.version, options, checkpoint.migration)
        return [Candidate(app, app.options(), note_of(options.get("release"))) for app in apps]

    def bootstrap(self, _lineage: Lineage, _want: TargetFrontier, _app: App, /) -> Cannot:
        """A store with a source is never empty, see `empty`, and only Quickwit makes a source."""
        return Cannot(
            "the metastore has no Kinesis source, to which positions belong",
            ("create the source with Quickwit: it reads every shard from its beginning",),
        )

    def rebuild(
        self, lineage: Lineage, checkpoint: Checkpoint, want: TargetFrontier, app: App, /
    ) -> list[Step] | Cannot:
        """The existing source, moved: see `empty`."""
        return self.encode(lineage, checkpoint, want, app, frozenset())

    def footprint(self, image: Image, /) -> dict[str, object]:
        """A row's attributes without `enabled`, which is switched off for a repair."""
        item = canonical(image.attributes)
        return {name: value for name, value in item.items() if name != "enabled"}

    def family(self, lineage: Lineage, keys: Collection[str], /) -> set[str]:
        """The source's own row and all of its positions: each can crash the whole source."""
        family = set(keys)
        for source in {"/".join(key.split("/", 2)[:2]) for key in keys}:
            family |= {source, *(f"{source}/{shard}" for shard in lineage)}
        return family

    def enabled_state(self, images: Sequence[Image], /) -> EnabledState | None:
        """How the selected sources are switched, where that stops them."""
        return enabled_state(images, self.index, self.source)

    def excluded_by(self, seconds: float, /) -> str:
        """What a silent watch rules out."""
        return f"{seconds:g} s without a new position rule out nothing: see whether a node runs"
