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
    """The parents at the head of the picture: the shard's own, or itself; `None` if it is gone."""
    lineage = report.snapshot.lineage
    parents = lineage[shard].parents if shard in lineage else ()
    if parents:
        return tuple(sorted(parents, key=_birth))
    return (shard,) if shard in lineage or lineage.children(shard) else None


def _drawn(report: Report, parents: tuple[ShardId, ...], verbose: bool) -> Iterator[str]:
    """Two parents and their child, or a parent and its children, or one shard alone."""
    lineage = report.snapshot.lineage
    heads = _columns([_cells(report, p, verbose) for p in parents])
    children = list(lineage.children(parents[-1]))
    shown = children if verbose else children[:CHILDREN]
    tails = _columns([_cells(report, child, verbose) for child in shown])
    if hidden := len(children) - len(shown):
        tails.append(f"and {hidden} more")
    if not tails:
        yield from heads
    elif len(parents) > 1:
        *upper, last = heads
        yield from (f"{head} ─┐" for head in upper)
        yield f"{last} ─┴─ {tails[0]}"
    else:
        yield from _fork(heads[0], tails)


def _fork(head: str, tails: list[str]) -> Iterator[str]:
    blank = " " * len(head)
    for place, tail in enumerate(tails):
        if len(tails) == 1:
            yield f"{head} ─── {tail}"
        elif place == 0:
            yield f"{head} ─┬─ {tail}"
        else:
            yield f"{blank}  {'└' if place == len(tails) - 1 else '├'}─ {tail}"


def _cells(report: Report, shard: ShardId, verbose: bool) -> tuple[str, str, str]:
    place = report.positions.get(shard)
    stands = "no position" if place is None else shortened(place, verbose)
    return shard if verbose else cut(short(shard), 30), _life(report, shard), cut(stands, 60)


def _life(report: Report, shard: ShardId) -> str:
    lineage, now = report.snapshot.lineage, report.snapshot.now
    if shard not in lineage:
        return "not listed"
    if lineage.is_open(shard):
        return "open"
    closed = lineage.closed_at(shard)
    return "closed" if closed is None else f"closed {ago(closed, now)}"


def _columns(rows: list[tuple[str, str, str]]) -> list[str]:
    """Cells padded to columns, so that lines of a family end alike."""
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    return ["   ".join(cell.ljust(w) for cell, w in zip(r, widths, strict=True)) for r in rows]


def _birth(shard: ShardId) -> tuple[int, str]:
    index = index_of(shard)
    return (-1 if index is None else index, shard)
