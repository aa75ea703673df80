"""Reads and edits Quickwit's metastore texts: an index's `metastore.json` or PostgreSQL row.

A Kinesis source is a row `INDEX/SOURCE` with its configuration; its attribute `checkpoint` exists
where the source's key is in the checkpoint. Each position is a row `INDEX/SOURCE/SHARD` with the
attribute `position`. Only these two are ever written, and nothing into a text that Quickwit does
not load: its sources have the attribute `refused`, with the reason (`loading`).

Sources of the format: `file_backed_index/serialize.rs`, `index_metadata/serialize.rs` and
`checkpoint.rs` of Quickwit 0.8.2 and 0.9.0, and what both accept and refuse (runs, Nov 2026).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reshardctl.consumers.quickwit.loading import KINESIS, position_at, refusals
from reshardctl.consumers.quickwit.splice import (
    MENDED,
    Member,
    blank,
    broken,
    edited,
    lone_surrogate,
    members,
    quoted,
    value_at,
)
from reshardctl.errors import REPLAN, NotLoaded, UsageError
from reshardctl.model import Attributes, AttributeValue, Create, Delete, Image, Update, Write

NOT_LOADED = "Quickwit does not load this index"
VERSIONS = ("0.7", "0.8", "0.9")
"""Of file and index metadata; only releases before 0.9 read 0.4 to 0.6."""
PRESENT: AttributeValue = {"S": "{}"}
"""The attribute of a source's row whose key is in the checkpoint."""


class Layout(Struct, frozen=True):
    """Where a text holds the index's metadata. path: names of the objects around them."""

    what: str
    path: tuple[str, ...]


FILE = Layout("metastore file", ("index",))
ROW = Layout("index metadata", ())


def is_file_of_an_index(content: bytes) -> bool:
    """Whether these bytes are a metastore file, even a damaged one, rather than another file."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return b'"index_uid"' in content
    return isinstance(body, dict) and FILE.path[0] in body


class _Found(Struct, frozen=True):
    """A parsed text.

    configured: the id in the index's configuration, which Quickwit uses. holders: each source's
    positions. versions: outermost first. refused: why Quickwit does not load it, "" where it does.
    """

    index_uid: str
    configured: object
    versions: tuple[str, ...]
    checkpoint: Member
    holders: Mapping[str, Member]
    sources: Sequence[Mapping[str, Any]]
    refused: str

    @property
    def index(self) -> str:
        """The index's id: the part of its uid before the colon."""
        return self.index_uid.partition(":")[0]


class Document(Struct, frozen=True):
    """The codec of a metastore text.

    index: the index it must be of, "" for any. source: the only judged one, "" for every Kinesis
    source. needed: whether a text without such a source is refused.
    """

    layout: Layout = FILE
    index: str = ""
    source: str = ""
    needed: bool = True

    def identity(self, text: str) -> Mapping[str, str]:
        """The index's uid, which no other index has, not even a later one of the same name."""
        return {"index_uid": self._found(text).index_uid}

    def images(self, text: str) -> list[Image]:
        """A row for each Kinesis source, and one for each of its positions, in key order."""
        parsed = self._found(text)
        _check_config(parsed)
        rows: list[Image] = []
        wanted = self._kinesis(parsed)
        for source in wanted:
            name = source["source_id"]
            holder = parsed.holders.get(name)
            rows.append(Image(f"{parsed.index}/{name}", _state(parsed, source, holder is not None)))
            if holder is not None:
                rows += _positions(text, f"{parsed.index}/{name}", holder)
        if parsed.refused and not rows:
            raise NotLoaded(f"{NOT_LOADED}: {parsed.refused}", MENDED)
        return sorted(rows, key=lambda row: row.key)

    def written(self, text: str, writes: Sequence[Write]) -> str:
        """The text with these positions; a source's missing key is added before them."""
        parsed = self._found(text)
        if parsed.refused:
            raise UsageError(f"{NOT_LOADED}: {parsed.refused}", MENDED)
        keys: dict[str, str | None] = {}
        positions: dict[str, dict[str, str | None]] = {}
        for write in writes:
            source, _, shard = write.key.removeprefix(f"{parsed.index}/").partition("/")
            if write.key == f"{parsed.index}/{source}":
                keys[source] = _key_after(write)
            else:
                positions.setdefault(source, {})[shard] = _position_after(write)
        if any(value is not None for value in keys.values()):
            text = edited(text, parsed.checkpoint, keys, "checkpoint")
            parsed, keys = self._found(text), {}
        for source in sorted(positions, key=lambda s: -_at(parsed, s)):
            holder = parsed.holders[source]
            text = edited(text, holder, positions[source], f"checkpoint of {source}")
        return edited(text, self._found(text).checkpoint, keys, "checkpoint") if keys else text

    def _kinesis(self, parsed: _Found) -> list[Mapping[str, Any]]:
        every = {source["source_id"]: source for source in parsed.sources}
        if self.source and self.source not in every:
            known = ", ".join(sorted(every)) or "none"
            raise UsageError(
                f"index {parsed.index} has no source {self.source}", f"it has: {known}"
            )
        if self.source and every[self.source].get("source_type") != KINESIS:
            kind = every[self.source].get("source_type")
            raise UsageError(
                f"source {self.source} of index {parsed.index} reads {kind}, not kinesis",
                "name a Kinesis source with source=",
            )
        wanted = [
            source for source in parsed.sources
            if source.get("source_type") == KINESIS
            and self.source in ("", source["source_id"]) and _stream(source) is not None
        ]
        if not wanted and self.needed and not parsed.refused:
            raise UsageError(f"index {parsed.index} has no Kinesis source", "name another index")
        return wanted

    def _found(self, text: str) -> _Found:
        """Raises UsageError for a text that Quickwit would not load in full."""
        if text.startswith("\ufeff"):
            raise NotLoaded("begins with a byte order mark, which Quickwit refuses", "take it off")
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
        parsed = _Found(
            uid, config.get("index_id"), tuple(versions), checkpoint, holders, sources,
            refusals(text, levels[0], config, holders, sources, versions[0]),
        )
        if self.index and parsed.index != self.index:
            raise UsageError(
                f"holds index {parsed.index}, where {self.index} belongs: Quickwit refuses it",
                "put each index's file back in the folder of its own name",
            )
        return parsed


def _check_config(parsed: _Found) -> None:
    """Raises UsageError if the configuration's `index_id` is not that of the uid.

    Quickwit compares it with the folder's name (`fetch_index` in `store_operations.rs`); with the
    uid of another index the text loads, but then no write finds the index.
    """
    if parsed.configured != parsed.index:
        raise UsageError(
            f"`index_uid` is of index {parsed.index}, `index_config.index_id` is "
            f"{parsed.configured!r}: Quickwit reads it as one and writes it as the other",
            "give both the name of the folder that the file is in",
        )


def _level(text: str, holder: Member, what: str, ends: bool = False) -> dict[str, Member]:
    level = {member.name: member for member in members(text, holder.value, what)}
    if ends:
        last = max((m.end for m in level.values()), default=holder.value + 1)
        rest = blank(text, blank(text, last) + 1)
        if rest < len(text):
            raise broken(text, rest, "text after the end of the object")
    return level


def _needed(level: Mapping[str, Member], name: str, what: str) -> Member:
    if name not in level:
        raise NotLoaded(f"missing field `{name}`", f"this is no {what} of Quickwit")
    return level[name]


def _decoded(
    text: str, level: Mapping[str, Member], name: str, kind: type, what: str
) -> Any:
    value, _ = value_at(text, _needed(level, name, what).value)
    if not isinstance(value, kind):
        raise NotLoaded(f"`{name}` is of another type", f"this is no {what} of Quickwit")
    return value


def _version(text: str, level: Mapping[str, Member], what: str) -> str:
    version = str(_decoded(text, level, "version", str, what))
    if version not in VERSIONS:
        raise UsageError(
            f"is of version {version}; known are {', '.join(VERSIONS)}",
            "let a release that reads it save it again, or use a newer reshardctl",
        )
    return version


def _check_sources(sources: Sequence[Any]) -> None:
    seen: set[str] = set()
    for source in sources:
        name = source.get("source_id") if isinstance(source, dict) else None
        if not isinstance(name, str):
            raise NotLoaded("`sources` holds an entry without source_id", MENDED)
        if name in seen:
            raise NotLoaded(f"source `{name}` is defined more than once", MENDED)
        seen.add(name)


def _stream(source: Mapping[str, Any]) -> str | None:
    """The stream that a Kinesis source reads, `None` where it names none."""
    params = source.get("params")
    stream = params.get("stream_name") if isinstance(params, dict) else None
    return stream if isinstance(stream, str) else None


def _state(parsed: _Found, source: Mapping[str, Any], known: bool) -> Attributes:
    params = source["params"]
    row: dict[str, AttributeValue] = {
        "backfill": {"BOOL": bool(params.get("enable_backfill_mode", False))},
        "enabled": {"BOOL": bool(source.get("enabled", True))},
        "index_uid": {"S": parsed.index_uid},
        "stream": {"S": params["stream_name"]},
        "version": {"S": parsed.versions[0]},
    }
    if isinstance(params.get("region"), str):
        row["region"] = {"S": params["region"]}
    if known:
        row["checkpoint"] = PRESENT
    if parsed.refused:
        row["refused"] = {"S": parsed.refused}
    return row


def _positions(text: str, prefix: str, holder: Member) -> Iterator[Image]:
    """The entries that are positions; `loading` names the others."""
    if text[holder.value] != "{":
        return
    for member in members(text, holder.value, f"checkpoint of {holder.name}"):
        if (position := position_at(text, member)) is not None:
            yield Image(f"{prefix}/{member.name}", {"position": {"S": position}})


def _key_after(write: Write) -> str | None:
    """The new value of a source's key after a write to its own row."""
    if isinstance(write.change, Update):
        if dict(write.change.set) == {"checkpoint": PRESENT} and not write.change.remove:
            return "{}"
        if not write.change.set and write.change.remove == ("checkpoint",):
            return None
    what = f"{write.key}: of a source only its key in the checkpoint can be written"
    raise UsageError(what, REPLAN)


def _position_after(write: Write) -> str | None:
    change = write.change
    if isinstance(change, Delete):
        return None
    values = change.attributes if isinstance(change, Create) else change.set
    if set(values) != {"position"} or (isinstance(change, Update) and change.remove):
        raise UsageError(f"{write.key}: of a shard only its position can be written", REPLAN)
    return quoted(values["position"]["S"])


def _at(parsed: _Found, source: str) -> int:
    if source not in parsed.holders:
        what = f"source {source} has no key in the checkpoint to put positions under"
        raise UsageError(what, REPLAN)
    return parsed.holders[source].value
