"""Pictures of the shards that a finding is about: who descends from whom, who stands where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reshardctl.model import ShardId, index_of, short
from reshardctl.render.escape import cut
from reshardctl.render.words import ago, shortened
from reshardctl.report import Report

FAMILIES = 4
"""Pictures a finding; the rest is in its list of shards."""
CHILDREN = 6
"""Children a picture shows."""


def pictures(report: Report, shards: Iterable[ShardId], verbose: bool = False) -> list[str]:
    """The lines of every family that these shards belong to, elder ones first."""
    families = dict.fromkeys(f for s in shards if (f := _family(report, s)) is not None)
    chosen = list(families) if verbose else list(families)[:FAMILIES]
    drawn = [line for parents in chosen for line in _drawn(report, parents, verbose)]
    hidden = len(families) - len(chosen)
    return [*drawn, f"and {hidden} more like these"] if hidden else drawn


def _family(report: Report, shard: ShardId) -> tuple[ShardId, ...] | None:
    """The parents at the head of the picture: the shard's own, or itself beside the other parent
    of its merge; `None` if nothing of it is listed."""
    lineage = report.snapshot.lineage
    if shard in lineage and (parents := lineage[shard].parents):
        return tuple(sorted(parents, key=_birth))
    children = lineage.children(shard)
    if len(children) == 1:
        return tuple(sorted(lineage[children[0]].parents, key=_birth))
    return (shard,) if children or shard in lineage else None


def _drawn(report: Report, parents: tuple[ShardId, ...], verbose: bool) -> Iterator[str]:
    """Two parents and their child, or a parent and its children, or one shard alone."""
    children = list(report.snapshot.lineage.children(parents[-1]))
    shown = children if verbose else children[:CHILDREN]
    tails = _columns([_cells(report, child) for child in shown])
    if hidden := len(children) - len(shown):
        tails.append(f"and {hidden} more")
    if not tails:
        yield from _columns([_cells(report, parent) for parent in parents])
        return
    heads = [_head(report, parent) for parent in parents]
    width = max(len(head) for head in heads)
    *upper, last = (f"{head} {'─' * (width - len(head) + 1)}" for head in heads)
    if upper:
        yield from (f"{head}┐" for head in upper)
        yield f"{last}┴─ {tails[0]}"
    else:
        yield from _fork(last, tails)


def _fork(head: str, tails: list[str]) -> Iterator[str]:
    blank = " " * len(head)
    for place, tail in enumerate(tails):
        if len(tails) == 1:
            yield f"{head}── {tail}"
        elif place == 0:
            yield f"{head}┬─ {tail}"
        else:
            yield f"{blank}{'└' if place == len(tails) - 1 else '├'}─ {tail}"


def _head(report: Report, shard: ShardId) -> str:
    """`7 ─ SHARD_END`; that it is closed goes without saying."""
    life = _life(report, shard)
    unusual = "" if life.startswith("closed") else f", {life}"
    return f"{cut(short(shard), 30)} ─ {_place(report, shard)}{unusual}"


def _cells(report: Report, shard: ShardId) -> tuple[str, str, str]:
    return cut(short(shard), 30), _life(report, shard), _place(report, shard)


def _place(report: Report, shard: ShardId) -> str:
    place = report.positions.get(shard)
    return "no position" if place is None else cut(shortened(place), 40)


def _life(report: Report, shard: ShardId) -> str:
    lineage, now = report.snapshot.lineage, report.snapshot.now
    if shard not in lineage:
        return "not listed"
    if lineage.is_open(shard):
        return "open"
    closed = lineage.closed_at(shard)
    return "closed" if closed is None else f"closed {ago(closed, now)}"


def _columns(rows: list[tuple[str, str, str]]) -> list[str]:
    """Cells padded to columns."""
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    return [
        "   ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _birth(shard: ShardId) -> tuple[int, str]:
    index = index_of(shard)
    return (-1 if index is None else index, shard)
