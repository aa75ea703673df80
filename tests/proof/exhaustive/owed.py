"""What a table owes, from its rows alone: an oracle beside `processed.py`.

A row at a number owes what follows it, one at TRIM_HORIZON everything. An absent row owes
everything while an unfinished ancestor is to create it (pending) or where nothing explains its
absence (lost); it owes nothing where all its children, or one that had to wait for it, have
progressed: KCL deletes such rows (LeaseCleanupManager). Where only a LATEST speaks for that, it may
be a refilled hole as well, and nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.case import Case
from tests.support.case_rows import Item
from tests.support.case_stream import CaseShard, shard_name

Progress = bool | None
"""Whether a shard was begun; None where that cannot be told."""


@dataclass(frozen=True, slots=True)
class Owes:
    """Payloads by shard id. What is in neither may have been read or not."""

    owed: Mapping[str, frozenset[str]]
    processed: Mapping[str, frozenset[str]]


def owes(case: Case, items: list[Item], initial: str) -> Owes:
    """Of every listed shard's unexpired records, and of those put while the consumer runs."""
    rows = {item["leaseKey"]["S"]: item for item in items}
    oracle = _Oracle(case, rows, initial)
    owed, processed = {}, {}
    horizon = max(
        case.stream["created"] + case.stream["trim"], case.now - case.retention_hours * 3600
    )
    for shard in case.topology.values():
        if shard.listed:
            name = shard_name(shard.id)
            stored = [(int(n), p) for n, p, at in shard.records if at >= horizon]
            low, high = oracle.bounds(shard)
            live = _live(case, shard)
            owed[name] = frozenset([p for n, p in stored if n > high] + live)
            processed[name] = frozenset(p for n, p in stored if n <= low)
    return Owes(owed, processed)


def _live(case: Case, shard: CaseShard) -> list[str]:
    there = shard.id in case.live.shards and not shard.end
    return [f"n{shard.id}-{i}" for i in range(case.live.n)] if there else []


NOTHING, ALL = 0, 2**200


class _Oracle:
    def __init__(self, case: Case, rows: Mapping[str, Item], initial: str) -> None:
        self._topology, self._rows, self._initial = case.topology, rows, initial

    def bounds(self, shard: CaseShard) -> tuple[int, int]:
        """(settled for certain up to, owed for certain from): sequence numbers."""
        row = self._row(shard)
        return self._absent(shard) if row is None else self._present(shard, row)

    def _row(self, shard: CaseShard) -> Item | None:
        return self._rows.get(shard_name(shard.id))

    def _present(self, shard: CaseShard, row: Item) -> tuple[int, int]:
        match row.get("checkpoint", {}).get("S"):
            case "SHARD_END":
                return (ALL, ALL) if shard.end else (NOTHING, NOTHING)
            case "LATEST":
                return self._latest(shard, row)
            case None | "TRIM_HORIZON" | "AT_TIMESTAMP":
                return NOTHING, NOTHING
            case text:
                return (int(text), int(text)) if _own(shard, int(text)) else (NOTHING, NOTHING)

    def _latest(self, shard: CaseShard, row: Item) -> tuple[int, int]:
        """Of a bootstrap, or of a refilled hole; where nothing was ever read, who can tell?"""
        if self._initial == "LATEST" and not (shard.parents or "parentShardId" in row):
            return (NOTHING, NOTHING) if shard.end else (ALL, ALL)
        leased = self._below_a_row(shard)
        stored = {r.get("checkpoint", {}).get("S") for r in self._rows.values()}
        if not leased and stored <= {"LATEST", "TRIM_HORIZON"}:
            return NOTHING, ALL
        return NOTHING, NOTHING

    def _below_a_row(self, shard: CaseShard) -> bool:
        above = [self._topology[parent] for parent in shard.parents]
        return any(self._row(one) is not None or self._below_a_row(one) for one in above)

    def _absent(self, shard: CaseShard) -> tuple[int, int]:
        if self._pending(shard):
            return NOTHING, NOTHING
        match self._over(shard):
            case True:
                return ALL, ALL
            case False:
                return NOTHING, NOTHING
            case None:
                return NOTHING, ALL

    def _pending(self, shard: CaseShard) -> bool:
        for parent in (self._topology[p] for p in shard.parents):
            row = self._row(parent)
            if parent.listed and (
                self._pending(parent) if row is None else not _finished(row)
            ):
                return True
        return False

    def _over(self, shard: CaseShard) -> Progress:
        """Cleaned up: all children begun. Gated: one begun that had to wait for this one."""
        children = [self._topology[child] for child in shard.children]
        states = [self._begun(child) for child in children]
        gated = [
            begun
            for child, begun in zip(children, states, strict=True)
            if (row := self._row(child)) is None or shard_name(shard.id) in _parents(row)
        ]
        if True in gated or (states and all(states)):
            return True
        return None if None in gated or (states and False not in states) else False

    def _begun(self, shard: CaseShard) -> Progress:
        row = self._row(shard)
        if row is None:
            over = self._over(shard)
            # Pending and over at once: a row above it was rewound, or it was skipped. No verdict.
            return over if not self._pending(shard) else None if over else over
        if row.get("checkpoint", {}).get("S") in ("LATEST", shard.start):
            return None  # a row may have been made at either
        return self._present(shard, row)[0] > NOTHING


def _own(shard: CaseShard, number: int) -> bool:
    below = not shard.end or number <= int(shard.end)
    return number >> 4 & 0xFFFFFFFF == shard.id and int(shard.start) <= number and below


def _finished(row: Item) -> bool:
    sub = row.get("checkpointSubSequenceNumber", {}).get("N", "0")
    return row.get("checkpoint", {}).get("S") == "SHARD_END" and int(sub) == 0


def _parents(row: Item) -> list[Any]:
    named: list[Any] = row.get("parentShardId", {}).get("SS", [])
    return named
