"""Quickwit's metastore texts as rows: `metastore.json` of an index, or its row in PostgreSQL.

A Kinesis source is a row `INDEX/SOURCE` with what its configuration says; its attribute
`checkpoint` is there where the source's key is in the checkpoint. Each position is a row
`INDEX/SOURCE/SHARD` with the attribute `position`. Only these two are ever written.

Sources of the format: `file_backed_index/serialize.rs`, `index_metadata/serialize.rs` and
`checkpoint.rs` of Quickwit 0.8.2 and 0.9.0, and what both accept and refuse (runs, Nov 2026).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reshardctl.consumers.quickwit.spans import (
    Member,
    blank,
    broken,
    lone_surrogate,
    members,
    value_at,
)
from reshardctl.consumers.quickwit.splice import edited, quoted
from reshardctl.errors import UsageError
from reshardctl.model import Attributes, AttributeValue, Create, Delete, Image, Update, Write

VERSIONS = ("0.7", "0.8", "0.9")
"""Of file and index metadata: 0.4 to 0.6 are read by releases before 0.9 only."""
PRESENT: AttributeValue = {"S": "{}"}
"""Of a source's row: its key is in the checkpoint."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where in a text the index's metadata lie. path: names of the objects around them."""

    what: str
    path: tuple[str, ...]


FILE = Layout("metastore file", ("index",))
ROW = Layout("index metadata", ())


@dataclass(frozen=True, slots=True)
class _Found:
    """A text, taken apart. configured: the id in the index's configuration, which Quickwit goes by.
    holders: each source's positions; versions: outer first."""

    index_uid: str
    configured: object
    versions: tuple[str, ...]
    checkpoint: Member
    holders: Mapping[str, Member]
    sources: Sequence[Mapping[str, Any]]

    @property
    def index(self) -> str:
        """The index's id: what stands before the colon of its uid."""
        return self.index_uid.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Document:
    """The codec. index: whose text it has to be, "" for any; source: the only one that is wanted,
    "" for every Kinesis source. needed: a text without a wanted one is refused."""

    layout: Layout = FILE
    index: str = ""
    source: str = ""
    needed: bool = True

    def identity(self, text: str) -> Mapping[str, str]:
        """The index's uid, which no other index has, not even a later one of the same name."""
        return {"index_uid": self._found(text).index_uid}

    def images(self, text: str) -> list[Image]:
        """A row for each Kinesis source, and one for each of its positions, in key order."""
        found = self._found(text)
        _check_config(found)
        rows: list[Image] = []
        for source in self._kinesis(found):
            name = source["source_id"]
            holder = found.holders.get(name)
            rows.append(Image(f"{found.index}/{name}", _state(found, source, holder is not None)))
            if holder is not None:
                rows += _positions(text, f"{found.index}/{name}", holder)
        return sorted(rows, key=lambda row: row.key)

    def written(self, text: str, writes: Sequence[Write]) -> str:
        """The text with these positions; a source's missing key goes in before them."""
        found = self._found(text)
        keys: dict[str, str | None] = {}
        positions: dict[str, dict[str, str | None]] = {}
        for write in writes:
            source, _, shard = write.key.removeprefix(f"{found.index}/").partition("/")
            if write.key == f"{found.index}/{source}":
                keys[source] = _key_after(write)
            else:
                positions.setdefault(source, {})[shard] = _position_after(write)
        if any(value is not None for value in keys.values()):
            text = edited(text, found.checkpoint, keys, "checkpoint")
            found, keys = self._found(text), {}
        for source in sorted(positions, key=lambda s: -_at(found, s)):
            holder = found.holders[source]
            text = edited(text, holder, positions[source], f"checkpoint of {source}")
        return edited(text, self._found(text).checkpoint, keys, "checkpoint") if keys else text

    def _kinesis(self, found: _Found) -> list[Mapping[str, Any]]:
        every = {source["source_id"]: source for source in found.sources}
        if self.source and self.source not in every:
            known = ", ".join(sorted(every)) or "none"
            raise UsageError(
                f"index {found.index} has no source {self.source}", f"it has: {known}"
            )
        if self.source and every[self.source].get("source_type") != "kinesis":
            kind = every[self.source].get("source_type")
            raise UsageError(
                f"source {self.source} of index {found.index} reads {kind}, not kinesis",
                "name a Kinesis source with source=",
            )
        wanted = [
            source for source in found.sources
            if source.get("source_type") == "kinesis"
            and self.source in ("", source["source_id"])
        ]
        if not wanted and self.needed:
            raise UsageError(f"index {found.index} has no Kinesis source", "name another index")
        return wanted

    def _found(self, text: str) -> _Found:
        """Raises UsageError for whatever Quickwit would not load, and for what it would silently
        drop: names that stand twice."""
        if text.startswith("\ufeff"):
            raise UsageError("begins with a byte order mark, which Quickwit refuses", "take it off")
        if (at := lone_surrogate(text)) is not None:
            raise broken(text, at, "half of a surrogate pair, which Quickwit refuses")
        whole = Member("", 0, blank(text, 0), len(text))
        levels: list[dict[str, Member]] = [_level(text, whole, self.layout.what, ends=True)]
        versions = [_version(text, levels[0], self.layout.what)]
        for name in self.layout.path:
            levels.append(_level(text, _needed(levels[-1], name, self.layout.what), name))
            versions.append(_version(text, levels[-1], self.layout.what))
        return self._checked(text, levels, versions)

    def _checked(
        self, text: str, levels: Sequence[dict[str, Member]], versions: Sequence[str]
    ) -> _Found:
        what, inner = self.layout.what, levels[-1]
        uid = _decoded(text, inner, "index_uid", str, what)
        sources = _decoded(text, inner, "sources", list, what)
        if len(levels) > 1:
            _needed(levels[0], "splits", what)
        checkpoint = _needed(inner, "checkpoint", what)
        holders = {m.name: m for m in members(text, checkpoint.value, "checkpoint")}
        _check_sources(sources)
        config = _decoded(text, inner, "index_config", dict, what)
        found = _Found(
            uid, config.get("index_id"), tuple(versions), checkpoint, holders, sources
        )
        if self.index and found.index != self.index:
            raise UsageError(
                f"holds index {found.index}, where {self.index} belongs: Quickwit refuses it",
                "put each index's file back in the folder of its own name",
            )
        return found


def _check_config(found: _Found) -> None:
    """The configuration's `index_id` is what Quickwit compares with the folder's name
    (`fetch_index` in `store_operations.rs`); a uid of another index loads, and then no write finds
    the index."""
    if found.configured != found.index:
        raise UsageError(
            f"`index_uid` is of index {found.index}, `index_config.index_id` is "
            f"{found.configured!r}: Quickwit reads it as one and writes it as the other",
            "give both the name of the folder that the file is in",
        )


def _level(text: str, holder: Member, what: str, ends: bool = False) -> dict[str, Member]:
    found = {member.name: member for member in members(text, holder.value, what)}
    if ends:
        last = max((m.end for m in found.values()), default=holder.value + 1)
        behind = blank(text, blank(text, last) + 1)
        if behind < len(text):
            raise broken(text, behind, "text after the end of the object")
    return found


def _needed(level: Mapping[str, Member], name: str, what: str) -> Member:
    if name not in level:
        raise UsageError(f"missing field `{name}`", f"this is no {what} of Quickwit")
    return level[name]


def _decoded(
    text: str, level: Mapping[str, Member], name: str, kind: type, what: str
) -> Any:
    value, _ = value_at(text, _needed(level, name, what).value)
    if not isinstance(value, kind):
        raise UsageError(f"`{name}` is of another type", f"this is no {what} of Quickwit")
    return value


def _version(text: str, level: Mapping[str, Member], what: str) -> str:
    version = str(_decoded(text, level, "version", str, what))
    if version not in VERSIONS:
        raise UsageError(
            f"is of version {version}; known are {', '.join(VERSIONS)}",
            "let a release that reads it save it anew, or use a newer reshardctl",
        )
    return version


def _check_sources(sources: Sequence[Any]) -> None:
    seen: set[str] = set()
    for source in sources:
        name = source.get("source_id") if isinstance(source, dict) else None
        if not isinstance(name, str):
            raise UsageError("`sources` holds an entry without source_id")
        if name in seen:
            raise UsageError(f"`sources` holds {name!r} twice", "keep one of them")
        seen.add(name)


def _state(found: _Found, source: Mapping[str, Any], known: bool) -> Attributes:
    params = source.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("stream_name"), str):
        raise UsageError(f"source {source['source_id']} names no stream in its params")
    row: dict[str, AttributeValue] = {
        "backfill": {"BOOL": bool(params.get("enable_backfill_mode", False))},
        "enabled": {"BOOL": bool(source.get("enabled", True))},
        "index_uid": {"S": found.index_uid},
        "stream": {"S": params["stream_name"]},
        "version": {"S": found.versions[0]},
    }
    if isinstance(params.get("region"), str):
        row["region"] = {"S": params["region"]}
    if known:
        row["checkpoint"] = PRESENT
    return row


def _positions(text: str, prefix: str, holder: Member) -> Iterator[Image]:
    what = f"checkpoint of {holder.name}"
    for member in members(text, holder.value, what):
        value, _ = value_at(text, member.value)
        if not isinstance(value, str):
            raise UsageError(
                f"{what}: the position of {member.name} is no string, which Quickwit refuses",
                "put it in quotes, or take the entry out",
            )
        yield Image(f"{prefix}/{member.name}", {"position": {"S": value}})


def _key_after(write: Write) -> str | None:
    """What a write to a source's own row does to its key."""
    if isinstance(write.change, Update):
        if dict(write.change.set) == {"checkpoint": PRESENT} and not write.change.remove:
            return "{}"
        if not write.change.set and write.change.remove == ("checkpoint",):
            return None
    raise UsageError(f"{write.key}: of a source only its key in the checkpoint can be written")


def _position_after(write: Write) -> str | None:
    change = write.change
    if isinstance(change, Delete):
        return None
    values = change.attributes if isinstance(change, Create) else change.set
    if set(values) != {"position"} or (isinstance(change, Update) and change.remove):
        raise UsageError(f"{write.key}: of a shard only its position can be written")
    return quoted(values["position"]["S"])


def _at(found: _Found, source: str) -> int:
    if source not in found.holders:
        raise UsageError(f"source {source} has no key in the checkpoint to put positions under")
    return found.holders[source].value
