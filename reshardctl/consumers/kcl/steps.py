"""Orders writes into steps so that no prefix is worse than the state before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from reshardctl.lineage import Lineage
from reshardctl.model import Create, ShardId, Step, Write, in_birth_order, index_of
from reshardctl.model.batched import batched

TRANSACTION = 100
"""Writes that DynamoDB takes in one transaction (TransactWriteItems API reference)."""


def in_steps(
    lineage: Lineage, writes: Mapping[ShardId, Write], crashing: frozenset[ShardId],
    hidden: frozenset[ShardId] = frozenset(), unaudited: frozenset[ShardId] = frozenset(),
) -> list[Step]:
    """One step a family of shards, children first.

    A family too large for one transaction is cut so that every prefix has all children before their
    parent's end. Families that lack rows come last: a missing row shows that another shard's LATEST
    was not its first position. Missing rows that are `hidden` from KCL's auditor come before
    whatever closes a hole that it sees, for it finds them only while it finds another: before other
    missing rows, and before rows that are there and `unaudited`, since KCL reads nothing by them.
    Rows that crash the consumer come after all others: it skips nothing while it cannot start.
    """
    steps = []
    families = [in_birth_order(f)[::-1] for f in _families(lineage, writes)]

    def rank(family: list[ShardId]) -> tuple[bool, ...]:
        filled = {shard for shard in family if isinstance(writes[shard].change, Create)}
        closes = not filled <= hidden or not unaudited.isdisjoint(family)
        last = not crashing.isdisjoint(family)
        return last, bool(filled) or closes, hidden.isdisjoint(filled), closes, bool(filled)

    for ordered in sorted(families, key=rank):
        for part in batched(ordered, TRANSACTION):
            title = "lease of " if len(part) == 1 else "leases of "
            names = ", ".join(str(index_of(s)) for s in reversed(part[:4]))
            more = f" and {len(part) - 4} more" if len(part) > 4 else ""
            steps.append(Step(title + names + more, tuple(writes[s] for s in part)))
    return steps


def _families(lineage: Lineage, shards: Collection[ShardId]) -> Iterator[list[ShardId]]:
    """Yields written shards in groups: those that are parent and child, or share a child."""
    seen: set[ShardId] = set()
    for first in in_birth_order(shards):
        family, todo = [], [first]
        while todo:
            shard = todo.pop()
            if shard in seen or shard not in shards:
                continue
            seen.add(shard)
            family.append(shard)
            parents, children = _parents(lineage, shard), lineage.children(shard)
            todo += [*parents, *children]
            todo += [p for c in children for p in _parents(lineage, c)]
            todo += [c for p in parents for c in lineage.children(p)]
        if family:
            yield family


def _parents(lineage: Lineage, shard: ShardId) -> Sequence[ShardId]:
    """Those that are not listed any more too: their rows count as others do."""
    return (*lineage.parents(shard), *lineage.unlisted_parents(shard))
