"""Mends attributes that some release cannot read, in rows that are written anyway.

The next release, and any later one, then reads the row. Values known from the lineage are written
anew, numbers that a file turned into strings get their type back, and attributes that KCL does not
need, or writes itself, are removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reshardctl.consumers.kcl.flaws import (
    CHILDREN,
    COUNTER,
    HASH_END,
    HASH_START,
    KIND,
    LEASE,
    OLD_OWNER,
    PARENTS,
    PENDING,
    PENDING_STATE,
    PENDING_SUB,
    SHARD_NAME,
    STREAM_NAME,
    SUB,
    SWITCHES,
    THROUGHPUT,
    meant,
)
from reshardctl.consumers.kcl.keys import split
from reshardctl.consumers.kcl.rows import Row
from reshardctl.lineage import Lineage
from reshardctl.model import AttributeValue, ShardId

_COUNTERS = frozenset({COUNTER, SWITCHES, SUB})
_KNOWN = frozenset({PARENTS, CHILDREN, HASH_START, HASH_END})
_DISPENSABLE = frozenset({THROUGHPUT, OLD_OWNER, PENDING_STATE})
_PENDING = (PENDING, PENDING_SUB, PENDING_STATE)


@dataclass(frozen=True, slots=True)
class Mended:
    """Attributes to set, and those to remove."""

    values: Mapping[str, AttributeValue]
    remove: tuple[str, ...]


def mended(lineage: Lineage, row: Row) -> Mended:
    """The changes that make the row readable to every release; none where it is."""
    flawed = {flaw.name for flaw in row.flaws}
    if flawed & {HASH_START, HASH_END}:
        flawed |= {HASH_START, HASH_END}  # each may be valid alone, and both be no range
    values = {name: value for name in sorted(flawed) if (value := _value(lineage, row, name))}
    remove = sorted((flawed - values.keys()) & (_KNOWN | _DISPENSABLE))
    if PENDING_SUB in flawed - values.keys():
        remove += [name for name in _PENDING if name not in remove]
    return Mended(values, tuple(remove))


def _value(lineage: Lineage, row: Row, name: str) -> AttributeValue | None:
    """What the attribute should be, `None` where it is not known."""
    item, (named, shard) = row.image.attributes, split(row.image.key)
    number = meant(item, name)
    if name in _COUNTERS:
        return {"N": str(number or 0)}
    if name in _KNOWN:
        return _known(lineage, shard, name)
    plain: dict[str, AttributeValue] = {
        KIND: {"S": LEASE}, STREAM_NAME: {"S": named.text if named else ""},
        SHARD_NAME: {"S": str(shard)},
    }
    if name == PENDING_SUB and number is not None:
        return {"N": str(number)}
    return plain.get(name)


def _known(lineage: Lineage, shard: ShardId, name: str) -> AttributeValue | None:
    """The attribute's value by the lineage."""
    if shard not in lineage:
        return None
    listed = lineage[shard]
    if name in (HASH_START, HASH_END):
        return {"S": str(listed.hash_start if name == HASH_START else listed.hash_end)}
    members = sorted(map(str, listed.parents if name == PARENTS else lineage.children(shard)))
    return {"SS": members} if members else None
