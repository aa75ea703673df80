"""What keeps Quickwit from loading an index's text whose JSON is sound.

The text is loaded whole or not at all: one position that is no string, or one field that a source's
configuration does not have, and no source of the index runs. Only what every release refuses that
reads texts of this version is named. The doc mapping, the settings and the splits are not looked
into.

Sources: `source_config/{mod,serialize}.rs`, `index_config/serialize.rs`, `checkpoint.rs`,
`index_metadata/serialize.rs` and `file_backed_index/serialize.rs` of 0.8.2 and 0.9.0; texts that
the real metastores of both loaded and refused (runs, Nov 2026).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from reshardctl.consumers.quickwit.splice import Member, members, value_at

NAMED = 3
"""Reasons that are named before the rest is left out."""
KINESIS = "kinesis"

_CONFIG = frozenset({
    "version", "index_id", "index_uri", "doc_mapping", "indexing_settings", "ingest_settings",
    "search_settings", "retention",
})
_SOURCE = frozenset({
    "version", "source_id", "num_pipelines", "enabled", "source_type", "params", "transform",
    "input_format",
})
_PARAMS = frozenset({"stream_name", "region", "endpoint", "enable_backfill_mode"})
_TYPES = frozenset({
    "file", "ingest", "ingest-api", "ingest-cli", "kafka", KINESIS, "pubsub", "gcp_pub_sub",
    "pulsar", "vec", "void",
})
_FORMATS = frozenset({
    "json", "plain", "plain_text",
    *(f"otlp_{what}_{how}" for what in ("logs", "trace", "traces")
      for how in ("json", "proto", "protobuf")),
})
_OLD, _NEW = ("0.4", "0.5", "0.6", "0.7"), ("0.8", "0.9")
"""Versions of a source's configuration; those before 0.8 have other fields, not checked here."""
_SOURCE_ID = re.compile(r"[a-zA-Z][a-zA-Z0-9\-_.]{2,254}\Z", re.ASCII)
_RESERVED = frozenset({"_ingest-source", "_ingest-api-source", "_ingest-cli-source"})


def refusals(
    text: str, outer: Mapping[str, Member], config: Mapping[str, Any],
    holders: Mapping[str, Member], sources: Sequence[Mapping[str, Any]], version: str,
) -> str:
    """Why Quickwit refuses the text, "" where nothing is known that it would refuse.

    outer: the members of the text itself; holders: each source's positions. version: of the text.
    """
    reasons = islice(_reasons(text, outer, config, holders, sources, version), NAMED)
    return "; ".join(dict.fromkeys(reasons))


def _reasons(
    text: str, outer: Mapping[str, Member], config: Mapping[str, Any],
    holders: Mapping[str, Member], sources: Sequence[Mapping[str, Any]], version: str,
) -> Iterator[str]:
    for name, opening in (("splits", "["), ("delete_tasks", "["), ("shards", "{")):
        if name in outer and text[outer[name].value] != opening:
            yield f"`{name}` is of another type"
    for name, holder in holders.items():
        yield from _of_positions(text, name, holder)
    yield from _unknown("index_config", config, _CONFIG)
    if not isinstance(config.get("doc_mapping"), dict):
        yield "index_config: `doc_mapping` is missing, or of another type"
    known = {"index_config": config, **{f"source `{s['source_id']}`": s for s in sources}}
    for what, one in known.items():
        yield from _of_version(what, one, version)
    for source in sources:
        yield from _of_source(source)


def _of_positions(text: str, source: str, holder: Member) -> Iterator[str]:
    what = f"checkpoint of `{source}`"
    if text[holder.value] != "{":
        yield f"{what}: no object"
        return
    for member in members(text, holder.value, what):
        if text[member.value] != '"':
            yield f"{what}: the position of {member.name} is no string"


def _of_version(what: str, holder: Mapping[str, Any], version: str) -> Iterator[str]:
    given = holder.get("version")
    if given not in _NEW and not (given in _OLD and (given == "0.7" or version != "0.9")):
        yield f"{what}: unknown version `{given}`" if given else f"{what}: `version` is missing"


def _of_source(source: Mapping[str, Any]) -> Iterator[str]:
    name = source["source_id"]
    what = f"source `{name}`"
    if not _SOURCE_ID.match(name) and name not in _RESERVED:
        yield f"{what}: no id of a source"
    if source.get("version") in _NEW:
        yield from _unknown(what, source, _SOURCE)
    kind = source.get("source_type")
    if kind not in _TYPES:
        yield f"{what}: unknown source_type `{kind}`"
    if source.get("input_format", "json") not in _FORMATS:
        yield f"{what}: unknown input_format `{source['input_format']}`"
    if not isinstance(source.get("enabled", True), bool):
        yield f"{what}: `enabled` is neither true nor false"
    if kind == KINESIS:
        yield from _of_kinesis(what, source)


def _of_kinesis(what: str, source: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(pipelines := source.get("num_pipelines", 1), bool) or pipelines != 1:
        yield f"{what}: num_pipelines is {pipelines}, and may only be 1"
    params = source.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("stream_name"), str):
        yield f"{what} names no stream in its params"
        return
    yield from _unknown(f"{what}, params", params, _PARAMS)
    places = [params[place] for place in ("region", "endpoint") if params.get(place) is not None]
    if not all(isinstance(place, str) for place in places):
        yield f"{what}: region or endpoint is no string"
    if len(places) > 1:
        yield f"{what}: `region` and `endpoint` are mutually exclusive"
    if not isinstance(params.get("enable_backfill_mode", False), bool):
        yield f"{what}: enable_backfill_mode is neither true nor false"


def _unknown(what: str, holder: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
    for name in holder:
        if name not in known:
            yield f"{what}: unknown field `{name}`"


def position_at(text: str, member: Member) -> str | None:
    """The position of an entry, `None` for a value that is no string."""
    value = value_at(text, member.value)[0] if text[member.value] == '"' else None
    return value if isinstance(value, str) else None
