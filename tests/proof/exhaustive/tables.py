"""Lease tables: random ones, and damaged ones that were healthy. Rows are the case format's."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.proof.reference.kcl_lease import knows_subs, syncs_fully
from tests.support.case_rows import Item
from tests.support.case_stream import CaseShard, number, shard_name

Row = dict[str, Any]
Topology = Mapping[int, CaseShard]

KINDS = {
    "absent": 30, "TRIM_HORIZON": 14, "record": 24, "SHARD_END": 20, "LATEST": 5,
    "AT_TIMESTAMP": 1, "END": 2, "START": 1, "foreign": 1, "sub": 2, "earlier": 0.3,
}
"""What a shard's row may be, and how often."""


def random_rows(rng: Random, topology: Topology) -> list[Row]:
    """A row or none for every shard, listed or gone, each for itself; rarely one not born yet."""
    odd = rng.random() < 0.5
    rows = [row for shard in topology.values() if (row := _random_row(rng, topology, shard))]
    for row in rows if odd else ():
        row |= _attributes(rng, topology, row["shard"])
    if odd and rng.random() < 0.1:
        position = rng.choice(("TRIM_HORIZON", "SHARD_END"))
        rows.append({"shard": max(topology) + 1, "checkpoint": position})
    return rows


def _random_row(rng: Random, topology: Topology, shard: CaseShard) -> Row | None:
    (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
    if kind == "absent":
        return None
    if not shard.end and (kind in ("END", "sub") or (kind == "SHARD_END" and rng.random() < 0.9)):
        kind = "record"
    row: Row = {"shard": shard.id, "checkpoint": kind}
    if kind == "record":
        row["checkpoint"] = rng.choice(shard.records)[1] if shard.records else "TRIM_HORIZON"
    elif kind == "sub":
        row |= {"checkpoint": "SHARD_END", "sub": 3}
    elif kind == "foreign":
        others = [p for s in topology.values() if s is not shard for _, p, _ in s.records]
        row["checkpoint"] = rng.choice(others) if others else "TRIM_HORIZON"
    elif kind == "earlier":
        row["checkpoint"] = number(1_795_000_000, 7, 1_795_000_500, shard.id)
    return row


def _attributes(rng: Random, topology: Topology, index: int) -> Row:
    """What may be wrong with a row beside its position."""
    parents = list(topology[index].parents)
    chance = rng.random()
    if chance < 0.20 and parents:
        return {"parents": rng.choice(([], parents[:1], parents[1:]))}
    if chance < 0.24 and parents:
        listed = {"L": [{"S": shard_name(parent)} for parent in parents]}
        return {"set": {"parentShardId": listed}}
    if chance < 0.34:
        return {"omit": [rng.choice(("leaseCounter", "ownerSwitchesSinceCheckpoint"))]}
    if chance < 0.36:
        return {"omit": ["checkpoint"]}
    if chance < 0.40:
        return {"hash": False}
    return {}


def damaged(rng: Random, rows: list[Row], topology: Topology) -> list[Row]:
    """One to three accidents on a table that was in order."""
    table = {row["shard"]: dict(row) for row in rows}
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if table:
            rng.choice((_lose, _lose, _lose_family, _end, _rewind, _rewrite, _unname, _strip))(
                rng, table, topology
            )
    return list(table.values())


Table = dict[int, Row]


def _lose(rng: Random, table: Table, _topology: Topology) -> None:
    del table[rng.choice(sorted(table))]


def _lose_family(rng: Random, table: Table, topology: Topology) -> None:
    chosen = rng.choice(sorted(table))
    for child in topology[chosen].children if chosen in topology else ():
        table.pop(child, None)


def _end(rng: Random, table: Table, topology: Topology) -> None:
    closed = [s for s in sorted(table) if s in topology and topology[s].end]
    if closed:
        chosen = rng.choice(closed)
        table[chosen] |= {"checkpoint": "SHARD_END", "sub": 0}


def _rewind(rng: Random, table: Table, _topology: Topology) -> None:
    table[rng.choice(sorted(table))]["checkpoint"] = rng.choice(("TRIM_HORIZON", "LATEST"))


def _rewrite(rng: Random, table: Table, topology: Topology) -> None:
    chosen = rng.choice(sorted(table))
    payloads = [p for _, p, _ in topology[chosen].records]
    if payloads:
        table[chosen]["checkpoint"] = rng.choice(payloads)


def _unname(rng: Random, table: Table, _topology: Topology) -> None:
    table[rng.choice(sorted(table))]["parents"] = []


def _strip(rng: Random, table: Table, _topology: Topology) -> None:
    table[rng.choice(sorted(table))]["omit"] = ["leaseCounter"]


def row_of(item: Item) -> Row:
    """An item that the reference consumer wrote, in the case format."""

    def named(attribute: str) -> list[int]:
        ids = item.get(attribute, {}).get("SS", ())
        return sorted(int(one.removeprefix("shardId-")) for one in ids)

    row: Row = {
        "shard": int(item["leaseKey"]["S"].removeprefix("shardId-")),
        "checkpoint": item["checkpoint"]["S"],
        "parents": named("parentShardId"),
        "children": named("childShardIds"),
        "counter": int(item["leaseCounter"]["N"]),
    }
    if "entityType" in item:
        row["set"] = {"entityType": item["entityType"]}
    return row


def as_written_by(release: str, rows: list[Row]) -> list[Row]:
    """The same rows with the attributes that this release knows (kcl_lease.new_item)."""
    for row in rows:
        if syncs_fully(release):
            row |= {"hash": False, "children": []}
        if not knows_subs(release):
            row["omit"] = [*row.get("omit", []), "checkpointSubSequenceNumber"]
    return rows
