"""A Kinesis source and its positions, selected from an index's rows, and what a position says.

Nothing in Quickwit marks a shard as finished: `~` crashes the Kinesis source, another library's
word (SHARD_END) stalls the shard and proves nothing, and a closed shard stays at its last record
for good. The only position that works as an end is the shard's EndingSequenceNumber, after which
Kinesis refuses to begin (runs on 0.8.2 and 0.9.0, Nov 2026).

Some entries are anomalies by themselves, others against the lineage.

A source may be disabled in the metastore itself. In PostgreSQL it does: a disabled source gets no
pipeline, and no other save touches its positions, because each reads the row anew under its lock. A
file-backed metastore is written whole from the memory of a node, so only a stopped node is safe
there (runs on 0.8.2 and 0.9.0, Nov 2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain

from msgspec import Struct, field

from reshardctl.consumers import sequence_numbers
from reshardctl.consumers.base import MANY, EnabledState
from reshardctl.consumers.sequence_numbers import (
    NumberKind,
    against_listing,
    classify,
    furthest,
    is_an_end,
    up_to,
)
from reshardctl.errors import UsageError, WrongStream, command_line
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    Anomaly,
    AnomalyKind,
    Basis,
    Image,
    ShardId,
    Span,
    Stream,
    at_number,
    decode,
    exactly,
    is_number,
    shard_id,
)
from reshardctl.model.files import refused


class Row(Struct, frozen=True):
    """One position. text: as stored, whole."""

    shard: ShardId
    text: str
    image: Image


class Checkpoint(Struct, frozen=True):
    """One source. state: its own row. source: "" where the text that may hold it cannot be read.

    unreadable: rows of other indexes that cannot be read, or that Quickwit does not load. foreign:
    rows of no source's position.
    """

    index: str
    source: str
    state: Image
    rows: Mapping[ShardId, Row] = field(default_factory=dict)
    unreadable: Sequence[Image] = ()
    foreign: Sequence[Image] = ()

    @property
    def key(self) -> str:
        """Key of the source's own row, and prefix of the keys of its positions."""
        return f"{self.index}/{self.source}" if self.source else self.index

    def text(self, shard: ShardId) -> str | None:
        """What is stored of a shard; `None` without an entry."""
        row = self.rows.get(shard)
        return None if row is None else row.text

    @property
    def known(self) -> bool:
        """Whether the source's key is in the checkpoint."""
        return "checkpoint" in self.state.attributes

    @property
    def refused(self) -> str:
        """Why Quickwit does not load the index, "" where it does."""
        return refused(self.state)

    @property
    def backfill(self) -> bool:
        """Whether the source reads up to the tips and then ends."""
        return bool(self.state.attributes.get("backfill", {}).get("BOOL", False))

    @property
    def migration(self) -> int | None:
        """The database's last migration; `None` for a metastore in files."""
        number = self.state.attributes.get("migration", {}).get("N")
        return None if number is None else int(number)

    @property
    def version(self) -> str:
        """The version of the metastore's text."""
        return str(self.state.attributes.get("version", {}).get("S", ""))


def shard_of(key: str) -> ShardId:
    """The shard in a row's key; MANY for a source's own row."""
    return ShardId(key.split("/", 2)[2]) if key.count("/") > 1 else MANY


def parse(
    images: Iterable[Image], stream: Stream | None, index: str = "", source: str = ""
) -> Checkpoint:
    """The one source that reads the stream; for no rows at all, a source without a name.

    Raises UsageError where there are several, or none in rows that are not Quickwit's; WrongStream
    where none reads it.
    """
    rows: dict[str, list[Image]] = {}
    sources: list[Image] = []
    unreadable: list[Image] = []
    foreign: list[Image] = []
    for image in images:
        parts = image.key.split("/", 2)
        if "unreadable" in image.attributes:
            unreadable.append(image)
        elif len(parts) == 2 and isinstance(image.attributes.get("stream", {}).get("S"), str):
            sources.append(image)
        elif len(parts) == 3 and isinstance(image.attributes.get("position", {}).get("S"), str):
            rows.setdefault("/".join(parts[:2]), []).append(image)
        else:
            foreign.append(image)
    if not (sources or rows or unreadable or foreign):
        return Checkpoint("", "", Image("", {}))
    if unreadable and not sources:
        first, *others = unreadable
        why = {"refused": first.attributes["unreadable"]}
        return Checkpoint(first.key, source, Image(first.key, why), unreadable=others)
    chosen = _chosen(sources, unreadable, stream, index, source)
    of_index, of_source = chosen.key.split("/")
    whys = {source.key.split("/")[0]: refused(source) for source in sources if refused(source)}
    unreadable += [
        Image(other, {"unreadable": {"S": f"index {other}: {why}"}})
        for other, why in whys.items() if other != of_index
    ]
    for without in rows.keys() - {image.key for image in sources}:
        foreign += rows[without]
    return Checkpoint(
        of_index, of_source, chosen,
        {row.shard: row for row in map(_row, rows.get(chosen.key, ()))}, unreadable,
        sorted(foreign, key=lambda image: image.key),
    )


def _row(image: Image) -> Row:
    return Row(shard_of(image.key), image.attributes["position"]["S"], image)


def _chosen(
    sources: Sequence[Image], unreadable: Sequence[Image], stream: Stream | None, index: str,
    source: str,
) -> Image:
    named = [image for image in sources if is_named(image, index, source)]
    if not named:
        what = "/".join(filter(None, (index, source)))
        known = ", ".join(image.key for image in sources) or "none"
        raise UsageError(
            f"there is no Kinesis source {what}".rstrip() + _told_unreadable(unreadable, index),
            _mended_first(unreadable, index) + f"Kinesis sources here: {known}",
        )
    ours = [image for image in named if stream is None or _reads(image, stream)]
    if not ours:
        raise WrongStream(
            f"no source here reads stream {stream.name if stream else ''} in its region: "
            + "; ".join(_told(image) for image in named) + _told_unreadable(unreadable, index),
            _mended_first(unreadable, index)
            + "name the stream that the source reads with --stream, or another index= or source=",
        )
    if len(ours) > 1:
        raise UsageError(
            f"{len(ours)} sources read this stream, each with positions of its own: "
            + ", ".join(image.key for image in ours),
            "say which: " + " or ".join(
                "index={}&source={}".format(*image.key.split("/")) for image in ours
            ),
        )
    return ours[0]


def is_named(row: Image, index: str, source: str) -> bool:
    """Whether a source's own row is of this index and source; "" names any."""
    of_index, of_source = row.key.split("/")[:2]
    return index in ("", of_index) and source in ("", of_source)


def _reads(source: Image, stream: Stream) -> bool:
    """By name, and by region where the configuration names one rather than an endpoint."""
    region = source.attributes.get("region", {}).get("S", stream.region)
    return source.attributes.get("stream", {}).get("S") == stream.name and region == stream.region


def _told(source: Image) -> str:
    where = source.attributes.get("region", {}).get("S")
    name = source.attributes.get("stream", {}).get("S")
    return f"{source.key} reads {name}" + (f" in {where}" if where else "")


def _told_unreadable(unreadable: Sequence[Image], index: str) -> str:
    """The indexes that may hold the source and cannot be read; "" for none."""
    return "".join(
        f"; unreadable: {image.attributes['unreadable']['S']}"
        for image in unreadable if index in ("", image.key)
    )


def _mended_first(unreadable: Sequence[Image], index: str) -> str:
    return "mend it first; " if _told_unreadable(unreadable, index) else ""


_MENDABLE = re.compile(r"\s*0*([1-9][0-9]{0,128})\s*\Z", re.ASCII)


class PositionKind(Enum):
    """What a stored position means."""

    START = "start"
    """No entry, an empty one, or the shard's StartingSequenceNumber."""
    NUMBER = "number"
    END = "end"
    """Refused, and rightly so: the shard's end."""
    END_MARK = "end-mark"
    """`~…`: the source crashes."""
    FOREIGN = "foreign"
    """A number that no record of this shard has: refused."""
    AHEAD = "ahead"
    """Inside the shard's range, but from the future: no record has it. Read after, if not refused.
    """
    NONSENSE = "nonsense"
    """No number: refused."""


_REFUSED = (PositionKind.END, PositionKind.FOREIGN, PositionKind.NONSENSE)


class ReadPosition(Struct, frozen=True):
    """One shard's position.

    span: what it proves; a number with superfluous zeros or blanks proves what it means.
    """

    kind: PositionKind
    span: Span

    @property
    def refused(self) -> bool:
        """Whether Kinesis gives no iterator for it, so that the shard's own consumer fails."""
        return self.kind in _REFUSED


def places_in(lineage: Lineage, checkpoint: Checkpoint) -> Mapping[ShardId, ReadPosition]:
    """The position of every listed shard, parents before children."""
    return lineage.memo(_places, lineage, checkpoint)


def _places(lineage: Lineage, checkpoint: Checkpoint) -> Mapping[ShardId, ReadPosition]:
    return {shard: position_of(lineage, shard, checkpoint.text(shard)) for shard in lineage}


def position_of(lineage: Lineage, shard: ShardId, text: str | None) -> ReadPosition:
    """The position of a listed shard. text: as stored, `None` without an entry."""
    return lineage.memo.once(_position_of, lineage, (shard, text))


def _position_of(lineage: Lineage, place: tuple[ShardId, str | None]) -> ReadPosition:
    shard, text = place
    if not text:
        why = "nothing of it was ever published"
        return ReadPosition(PositionKind.START, exactly(START, Basis.STORED, why))
    if text.startswith("~"):
        return ReadPosition(PositionKind.END_MARK, _of_end_mark(lineage, shard, text[1:]))
    if not is_number(text):
        return _of_words(lineage, shard, text)
    return _of_number(lineage, shard, text)


def _unknown(lineage: Lineage, shard: ShardId, why: str) -> Span:
    return Span(START, furthest(lineage, shard), Basis.INFERRED, why)


def _of_number(lineage: Lineage, shard: ShardId, text: str) -> ReadPosition:
    kind = classify(lineage, shard, text)
    if kind is NumberKind.AFTER_END and decode(lineage[shard].end or "") is None:
        kind = NumberKind.AT_END  # an emulator's ends are no numbers
    elif kind in (NumberKind.INSIDE, NumberKind.AHEAD) and is_an_end(lineage, text):
        kind = NumberKind.OTHER_SHARD
    match kind:
        case NumberKind.START:
            return ReadPosition(PositionKind.START, exactly(START))
        case NumberKind.INSIDE:
            return ReadPosition(PositionKind.NUMBER, up_to(lineage, text))
        case NumberKind.AHEAD:
            why = "its number lies in the future, and is of no record"
            return ReadPosition(
                PositionKind.AHEAD, Span(START, at_number(text), Basis.INFERRED, why)
            )
        case NumberKind.AT_END:
            return ReadPosition(PositionKind.END, exactly(DONE))
        case _:
            why = "its number is none of this shard"
            return ReadPosition(PositionKind.FOREIGN, _unknown(lineage, shard, why))


def _of_end_mark(lineage: Lineage, shard: ShardId, offset: str) -> Span:
    """What `~` with an offset proves; a bare one means that no record was ever written."""
    inner = _position_of(lineage, (shard, offset)) if offset else None
    if inner is not None and inner.kind in (
        PositionKind.NUMBER,
        PositionKind.END,
        PositionKind.START,
    ):
        return inner.span
    return _unknown(lineage, shard, "its end mark names no record")


def _of_words(lineage: Lineage, shard: ShardId, text: str) -> ReadPosition:
    if text == "TRIM_HORIZON":
        return ReadPosition(PositionKind.NONSENSE, exactly(START))
    if (match := _MENDABLE.match(text)) is not None:
        meant = _of_number(lineage, shard, match[1])
        return ReadPosition(PositionKind.NONSENSE, meant.span)
    unknown = _unknown(lineage, shard, "its position is no number")
    return ReadPosition(PositionKind.NONSENSE, unknown)


def is_own(lineage: Lineage, shard: ShardId, text: str) -> bool:
    """Whether a number is of this shard."""
    own = (PositionKind.START, PositionKind.NUMBER, PositionKind.END)
    return position_of(lineage, shard, text).kind in own


def of_another_stream(lineage: Lineage, text: str) -> bool:
    """Whether a number is younger than this stream and of none of its shards.

    A number after a shard's end, but of the epoch of that end, is the same shard's.
    """
    decoded = decode(text)
    if decoded is None or not sequence_numbers.of_another_stream(lineage, text):
        return False
    home = shard_id(decoded.shard)
    if home not in lineage or int(text) < int(lineage[home].start):
        return True
    end = decode(lineage[home].end or "")
    return end is not None and end.epoch != decoded.epoch


def anomalies(lineage: Lineage, checkpoint: Checkpoint) -> list[Anomaly]:
    """Every anomaly of the entries, apart from their positions."""
    others = [
        Anomaly(AnomalyKind.UNREADABLE_STORE, image.key, "", str(why.get("S", "")))
        for image in checkpoint.unreadable for why in [image.attributes["unreadable"]]
    ]
    refused = [
        Anomaly(AnomalyKind.UNREADABLE, checkpoint.key, "", why) for why in [checkpoint.refused]
        if why
    ]
    foreign = [
        Anomaly(AnomalyKind.FOREIGN_ENTRY, image.key, repr(image.key), "no position of a source")
        for image in checkpoint.foreign
    ]
    places = places_in(lineage, checkpoint)
    own = (_of_row(lineage, row, places.get(row.shard)) for row in checkpoint.rows.values())
    return [*others, *refused, *foreign, *chain.from_iterable(own)]


def _of_row(lineage: Lineage, row: Row, place: ReadPosition | None) -> Iterator[Anomaly]:
    key, raw, shard = row.image.key, row.text, row.shard
    kind = None if place is None else place.kind
    if kind is PositionKind.END_MARK:
        why = "~ marks an end, which no position of a Kinesis source may"
        yield Anomaly(AnomalyKind.UNREADABLE, key, raw, why, shard)
    if kind is PositionKind.NONSENSE:
        why = f"{raw[:40]!r} is no sequence number"
        yield Anomaly(AnomalyKind.UNREADABLE, key, raw, why, shard)
    yield from against_listing(lineage, shard, key, raw, number=raw.removeprefix("~"))


def enabled(source: Image) -> bool:
    """Whether a source is enabled, by its own row."""
    return bool(source.attributes.get("enabled", {}).get("BOOL", True))


def in_postgres(source: Image) -> bool:
    """Whether a source's own row is of a metastore in PostgreSQL."""
    return "migration" in source.attributes


def enabled_state(
    images: Iterable[Image], index: str = "", source: str = ""
) -> EnabledState | None:
    """State of the selected sources; `None` for a store in which disabling does not stop them."""
    sources = [
        image for image in images if in_postgres(image) and is_named(image, index, source)
    ]
    if not sources:
        return None
    on = tuple(image.key for image in sources if enabled(image))
    off = tuple(image.key for image in sources if not enabled(image))
    return EnabledState(
        on, off, f"{', '.join(off)}: disabled in the metastore, and nothing published",
        f"source {', '.join(on)} is enabled: a pipeline would pass over a position that is put "
        "back, and be refused by one that is put forward", _off(on[0]) if on else "",
    )


def _off(key: str) -> str:
    """How to disable a source."""
    index, _, source = key.partition("/")
    return (
        command_line("quickwit", "source", "disable", "--index", index, "--source", source)
        + ", wait until it publishes no more, and run this again; or stop every node and add "
        "--assume-stopped"
    )
