"""What an audit has to find in a sink: counted here from its rows, by plain sets.

Judged on the first copies: a batch that was written again is doubled, not disordered as well. A row
is out of order if a later record of its key is in an earlier batch than the row's first copy;
rows of one batch tell nothing of each other, nor do those without a batch or a key.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from tests.proof.damaged_sinks.damage import Making
from tests.proof.damaged_sinks.rows import Place, Row


@dataclass(frozen=True)
class Held:
    """What the sink has of one shard; faulty rows are not counted."""

    rows: int
    first: Place
    last: Place
    doubled: int
    extra: int
    disordered: int


@dataclass(frozen=True)
class Truth:
    """idents of rows, places of records; `missing` is what the stream still has, `gone` what it
    has not any more: no audit can know of those."""

    rows: int
    shards: dict[str, Held]
    read: dict[str, int]
    missing: dict[str, tuple[Place, ...]]
    gone: tuple[Place, ...]
    doubled: dict[Place, tuple[int, ...]]
    disordered: frozenset[int]
    unusable: dict[str, tuple[int, ...]]


def truth_of(making: Making) -> Truth:
    """Counted from the rows; what was noted while they were damaged has to agree."""
    usable = [row for row in making.rows if row.ident not in making.faults]
    copies: dict[Place, list[Row]] = defaultdict(list)
    for row in usable:
        assert row.record is not None
        copies[row.record].append(row)
    lost = [r for r in making.history.rows if r.record and r.record not in copies]
    assert {row.record for row in lost} == making.lost
    disordered = _disordered(copies)
    faults: dict[str, list[int]] = defaultdict(list)
    for ident, fault in making.faults.items():
        faults[fault].append(ident)
    return Truth(
        len(making.rows), _held(copies, disordered), _read(making), _missing(making, lost),
        tuple(r.record for r in lost if r.record and r.arrival < making.history.horizon),
        {p: tuple(sorted(r.ident for r in rows)) for p, rows in copies.items() if len(rows) > 1},
        disordered, {fault: tuple(sorted(found)) for fault, found in faults.items()},
    )  # fmt: skip


def _disordered(copies: dict[Place, list[Row]]) -> frozenset[int]:
    firsts: dict[str, list[Row]] = defaultdict(list)
    for rows in copies.values():
        told = [row for row in rows if row.batch >= 0 and row.key]
        if told:
            first = min(told, key=lambda row: row.batch)
            firsts[first.key].append(first)
    return frozenset(
        row.ident for rows in firsts.values() for row in rows
        if any(_later(other, row) and other.batch < row.batch for other in rows)
    )  # fmt: skip


def _later(one: Row, other: Row) -> bool:
    return bool(one.record and other.record and one.record > other.record)


def _held(copies: dict[Place, list[Row]], disordered: frozenset[int]) -> dict[str, Held]:
    places: dict[str, list[Place]] = defaultdict(list)
    for place, rows in copies.items():
        places[rows[0].shard].append(place)
    found = {}
    for shard, mine in sorted(places.items()):
        counts = [len(copies[place]) for place in mine]
        found[shard] = Held(
            sum(counts), min(mine), max(mine), sum(n > 1 for n in counts), sum(counts) - len(mine),
            sum(row.ident in disordered for place in mine for row in copies[place]),
        )  # fmt: skip
    return found


def _read(making: Making) -> dict[str, int]:
    """Records that the stream still has, by shard."""
    horizon = making.history.horizon
    return dict(sorted(Counter(
        row.shard for row in making.history.rows if row.arrival >= horizon
    ).items()))  # fmt: skip


def _missing(making: Making, lost: list[Row]) -> dict[str, tuple[Place, ...]]:
    found: dict[str, list[Place]] = defaultdict(list)
    for row in lost:
        if row.record and row.arrival >= making.history.horizon:
            found[row.shard].append(row.record)
    return {shard: tuple(sorted(places)) for shard, places in sorted(found.items())}
