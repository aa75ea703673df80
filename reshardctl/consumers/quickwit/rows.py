"""A Kinesis source and its positions, selected from an index's rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reshardctl.consumers.base import MANY
from reshardctl.errors import UsageError, WrongStream
from reshardctl.model import Image, ShardId, Stream
from reshardctl.model.files import refused
from reshardctl.model.memo import Once


@dataclass(frozen=True, slots=True)
class Row:
    """One position. text: as stored, whole."""

    shard: ShardId
    text: str
    image: Image


@dataclass(frozen=True, slots=True)
class Checkpoint:
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
    once: Once = field(default_factory=Once, init=False, compare=False, repr=False)
    """What was computed from these rows, so that encoding and judging do it once."""

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
