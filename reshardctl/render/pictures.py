"""Pictures of a finding's shards: their parents, children and positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reshardctl.model import ShardId, in_birth_order, short
from reshardctl.render.escape import ascii_only, cut, escape
from reshardctl.render.families_below import below
from reshardctl.render.words import ago, shortened
from reshardctl.report.report import Report

FAMILIES = 4
"""Pictures a finding; the rest is in its list of shards."""
CHILDREN = 6
"""Children a picture shows."""


class Pictures:
    """Draws families of one report, in ASCII where `plain`.

    Words are made harmless before they are laid out: columns rest on their width. width: columns
    that a line may have; a family that needs more has its children below their parents.
    """

    def __init__(
        self, report: Report, width: int, *, verbose: bool = False, plain: bool = False
    ) -> None:
        self._report, self._lineage, self._width = report, report.snapshot.lineage, width
        self._verbose, self._plain = verbose, plain

    def of(self, shards: Iterable[ShardId]) -> list[str]:
        """The lines of every family that these shards belong to, elder ones first."""
        families = dict.fromkeys(f for s in shards if (f := self._family(s)) is not None)
        chosen = list(families) if self._verbose else list(families)[:FAMILIES]
        drawn = [line for parents in chosen for line in self._fitted(parents)]
        hidden = len(families) - len(chosen)
        return [*drawn, f"and {hidden} more like these"] if hidden else drawn

    def _family(self, shard: ShardId) -> tuple[ShardId, ...] | None:
        """The parents at the head of the picture, `None` if neither shard nor relative is listed.

        They are the shard's own parents, or the shard itself with the other parent of its merge.
        """
        listed = shard in self._lineage
        if listed and (parents := self._lineage[shard].parents):
            return tuple(in_birth_order(parents))
        children = self._lineage.children(shard)
        if len(children) == 1:
            return tuple(in_birth_order(self._lineage[children[0]].parents))
        return (shard,) if children or listed else None

    def _fitted(self, parents: tuple[ShardId, ...]) -> list[str]:
        """A family side by side where that fits, else with the children below."""
        beside = list(self._drawn(parents))
        if all(len(line) <= self._width for line in beside):
            return beside
        children = list(self._lineage.children(parents[-1]))
        shown = children if self._verbose else children[:CHILDREN]
        cells = {shard: self._cells(shard) for shard in (*parents, *shown)}
        more = [f"and {hidden} more"] if (hidden := len(children) - len(shown)) else []
        families = {parents: shown} if shown else {}
        return [*below(families, () if shown else parents, cells, self._width), *more]

    def _drawn(self, parents: tuple[ShardId, ...]) -> Iterator[str]:
        """Two parents and their child, or a parent and its children, or one shard alone."""
        children = list(self._lineage.children(parents[-1]))
        shown = children if self._verbose else children[:CHILDREN]
        tails = _columns([self._cells(child) for child in shown])
        if hidden := len(children) - len(shown):
            tails.append(f"and {hidden} more")
        if not tails:
            yield from _columns([self._cells(parent) for parent in parents])
            return
        heads = [self._head(parent) for parent in parents]
        width = max(len(head) for head in heads)
        *upper, last = (f"{head} {'─' * (width - len(head) + 1)}" for head in heads)
        if upper:
            yield from (f"{head}┐" for head in upper)
            yield f"{last}┴─ {tails[0]}"
        else:
            yield from _fork(last, tails)

    def _head(self, shard: ShardId) -> str:
        """`7 ─ SHARD_END`; that it is closed goes without saying."""
        name, life, position = self._cells(shard)
        return f"{name} ─ {position}" + ("" if life.startswith("closed") else f", {life}")

    def _cells(self, shard: ShardId) -> tuple[str, str, str]:
        stored = self._report.positions.get(shard)
        position = "no position" if stored is None else cut(shortened(stored), 40)
        return self._safe(cut(short(shard), 30)), self._life(shard), self._safe(position)

    def _life(self, shard: ShardId) -> str:
        if shard not in self._lineage:
            return "not listed"
        if self._lineage.is_open(shard):
            return "open"
        closed = self._lineage.closed_at(shard)
        return "closed" if closed is None else f"closed {ago(closed, self._report.snapshot.now)}"

    def _safe(self, text: str) -> str:
        return ascii_only(escape(text)) if self._plain else escape(text)


def _fork(head: str, tails: list[str]) -> Iterator[str]:
    blank = " " * len(head)
    for index, tail in enumerate(tails):
        if len(tails) == 1:
            yield f"{head}── {tail}"
        elif index == 0:
            yield f"{head}┬─ {tail}"
        else:
            yield f"{blank}{'└' if index == len(tails) - 1 else '├'}─ {tail}"


def _columns(rows: list[tuple[str, str, str]]) -> list[str]:
    """Cells padded to columns."""
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    return [
        "   ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
