"""A Kinesis source of Quickwit: `[[rows]]` are its entries, `[source_state]` its own.

A row: ``shard``; ``at``: START, END, a payload, a literal number, or one of these behind ``~``;
or ``raw``: the text itself. ``[source_state]``: ``version`` of the file (default 0.8, which every
release reads), ``key`` (false: the source's key is missing), ``backfill``, ``enabled``;
``unreadable``: other indexes whose file cannot be read → why.

In ``[expect.fixed] writes`` a position is END, a payload, a literal text or ``delete``; the
source's key is ``"-1" = "{}"``.

Shapes: metastores that Quickwit 0.8.2 and 0.9.0 wrote (tests/golden/quickwit).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reshardctl.model import Create, Delete, Image, Step, Write
from tests.support.case import Case
from tests.support.case_rows import position
from tests.support.case_stream import CaseShard, only, shard_name

KEYS: frozenset[str] = frozenset({"rows", "source_state"})
STATE_KEYS = {"version", "key", "backfill", "enabled", "unreadable"}
START = ""
PREFIX = "events/kinesis-events"
KEY = -1


def check(state: Mapping[str, Any], topology: Mapping[int, CaseShard]) -> None:
    """KeyError or ValueError for tables that are wrong."""
    only(state.get("source_state", {}), STATE_KEYS, "source_state")
    for row in state.get("rows", []):
        only(row, {"shard", "at", "raw"}, f"row of shard {row.get('shard')}")
        _text(row, topology)


def stored(case: Case) -> dict[str, str] | None:
    """The source's map as the metastore holds it; `None` without the source's key."""
    if not case.state.get("source_state", {}).get("key", True):
        return None
    rows = case.state.get("rows", [])
    return {shard_name(row["shard"]): _text(row, case.topology) for row in rows}


def mended(case: Case, writes: Mapping[int, str]) -> dict[str, str] | None:
    """The map after the writes, made by hand."""
    found = stored(case)
    if writes.get(KEY) == "{}":
        found = {}
    for shard, wanted in writes.items():
        assert found is not None
        if wanted == "delete":
            del found[shard_name(shard)]
        elif shard != KEY:
            found[shard_name(shard)] = position(wanted, shard, dict(case.topology))
    return found


def images(case: Case) -> list[Image]:
    """The source's row and its entries, in key order."""
    return _rows(case, stored(case))


def repaired(case: Case, writes: Mapping[int, str]) -> list[Image]:
    """After the writes, made by hand."""
    return _rows(case, mended(case, writes))


def backfill(case: Case) -> bool:
    """Whether the source reads in backfill mode."""
    return bool(case.state.get("source_state", {}).get("backfill", False))


def spelled(case: Case, steps: Iterable[Step]) -> dict[int, str]:
    """What steps write, in the words of `[expect.fixed] writes`."""
    found = {}
    for write in (w for step in steps for w in step.writes):
        if write.key == PREFIX:
            found[KEY] = "{}"
        else:
            shard = int(write.key[-12:])
            found[shard] = _word(case, shard, write)
    return found


def _word(case: Case, shard: int, write: Write) -> str:
    change = write.change
    if isinstance(change, Delete):
        return "delete"
    text = str((change.attributes if isinstance(change, Create) else change.set)["position"]["S"])
    if text == case.topology[shard].end:
        return "END"
    return next((p for n, p, _ in case.topology[shard].records if n == text), text)


def _text(row: Mapping[str, Any], topology: Mapping[int, CaseShard]) -> str:
    if "raw" in row:
        return str(row["raw"])
    mark = "~" if row["at"].startswith("~") else ""
    return mark + position(row["at"].removeprefix("~"), row["shard"], dict(topology))


def _rows(case: Case, positions: Mapping[str, str] | None) -> list[Image]:
    state = case.state.get("source_state", {})
    row: dict[str, dict[str, Any]] = {
        "backfill": {"BOOL": backfill(case)},
        "enabled": {"BOOL": state.get("enabled", True)},
        "index_uid": {"S": "events:01M7Y8Y2K2MMN7QETDSR65CHCY"},
        "region": {"S": case.stream["region"]},
        "stream": {"S": case.stream["name"]},
        "version": {"S": state.get("version", "0.8")},
    }
    if positions is not None:
        row["checkpoint"] = {"S": "{}"}
    rows = [Image(PREFIX, dict(sorted(row.items())))]
    rows += [
        Image(f"{PREFIX}/{shard}", {"position": {"S": text}})
        for shard, text in (positions or {}).items()
    ]
    others = state.get("unreadable", {})
    rows += [Image(index, {"unreadable": {"S": why}}) for index, why in others.items()]
    return sorted(rows, key=lambda image: image.key)
