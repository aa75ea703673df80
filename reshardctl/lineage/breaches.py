"""The ways in which a listing of shards can contradict itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from reshardctl.lineage.columns import Columns
from reshardctl.lineage.links import Links
from reshardctl.model import HASH_SPACE, ShardId
from reshardctl.model.phrases import listed


@dataclass(frozen=True, slots=True)
class Breach:
    """A listing that no stream at rest can have. `code` is the rule's."""

    code: str
    name: str
    shards: tuple[ShardId, ...]
    why: str


def uncovered(ranges: Iterable[tuple[int, int]], lo: int, hi: int) -> list[tuple[int, int]]:
    """The parts of [lo, hi] that the inclusive ranges leave open, in order. Ranges may overlap."""
    gaps, at = [], lo
    for start, end in sorted(ranges):
        if start > at:
            gaps.append((at, min(start - 1, hi)))
        at = max(at, end + 1)
        if at > hi:
            break
    if at <= hi:
        gaps.append((at, hi))
    return gaps


def breaches(columns: Columns, links: Links, opened: list[int]) -> list[Breach]:
    """Every breach; none for a stream at rest. `opened`: rows of the open shards."""
    return [
        *_holes(columns, opened),
        *_open_parents(columns, links, opened),
        *_childless(columns, links, set(opened)),
    ]


def hash_range(columns: Columns, row: int) -> tuple[int, int]:
    """First and last hash key of a row."""
    return int(columns.low[row]), int(columns.high[row])


def _holes(columns: Columns, opened: list[int]) -> Iterator[Breach]:
    if _tiled(columns, opened):
        return
    spans = sorted((*hash_range(columns, row), row) for row in opened)
    if gaps := uncovered(((a, b) for a, b, _ in spans), 0, HASH_SPACE - 1):
        named = listed(gaps, 3, lambda gap: f"{gap[0]}–{gap[1]}")
        yield Breach("RSH103", "hash-range-hole", (), f"no open shard has the hash keys {named}")
    if twice := _overlapping(spans):
        names = tuple(columns.ids.name(row) for row in twice)
        yield Breach("RSH103", "hash-range-hole", names, "open shards share hash keys")


def _tiled(columns: Columns, opened: list[int]) -> bool:
    """Whether each hash key has one open shard. Packed keys compare as the numbers do."""
    spans = sorted((columns.low.raw(row), columns.high.raw(row)) for row in opened)
    if not spans or int(spans[0][0].hex()) or int(spans[-1][1].hex()) != HASH_SPACE - 1:
        return False
    return all(
        end < begin and _adjoin(end, begin) for (_, end), (begin, _) in pairwise(spans)
    )


def _overlapping(spans: list[tuple[int, int, int]]) -> list[int]:
    """Rows of the spans that share keys with another. The spans are ordered by their keys."""
    shared: set[int] = set()
    end, widest = -1, -1
    for low, high, row in spans:
        if low <= end:
            shared |= {widest, row}
        if high > end:
            end, widest = high, row
    return sorted(shared)


def _open_parents(columns: Columns, links: Links, opened: list[int]) -> Iterator[Breach]:
    shards = tuple(columns.ids.name(row) for row in opened if links.children(row))
    if shards:
        yield Breach("RSH104", "open-parent", shards, "listed as open although a child is listed")


def _childless(columns: Columns, links: Links, opened: set[int]) -> Iterator[Breach]:
    rows = (row for row in _doubtful(columns, links) if row not in opened)
    shards = tuple(columns.ids.name(row) for row in rows if not _covered(columns, links, row))
    if shards:
        why = "closed, but its listed children do not cover its hash keys"
        yield Breach("RSH105", "closed-without-children", shards, why)


def _doubtful(columns: Columns, links: Links) -> Iterator[int]:
    """Rows that are not simply covered by one child, or by the two of a split.

    The one loop over a million shards here, therefore on bytes: packed hash keys compare as the
    numbers do.
    """
    low, high = columns.low.raw_rows(), columns.high.raw_rows()
    for row, (lower, upper) in enumerate(links.few_children()):
        if lower < 0 or not (
            low[lower] <= low[row]
            and high[row] <= high[upper]
            and (lower == upper or _adjoin(high[lower], low[upper]))
        ):
            yield row


def _adjoin(end: bytes, begin: bytes) -> bool:
    """Whether no number lies between two packed ones: the first is at least the second less one."""
    if end[-1] + 1 == begin[-1] and end[:-1] == begin[:-1]:
        return True  # by far the most frequent: one more changes the last digit alone, no 9
    return int(begin.hex()) <= int(end.hex()) + 1


def _covered(columns: Columns, links: Links, row: int) -> bool:
    ranges = [hash_range(columns, child) for child in links.children(row)]
    return not uncovered(ranges, *hash_range(columns, row))
