"""ListShards answers of a stream that is split and merged without end."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

_HASH_KEYS = 1 << 128
_CREATED = 1_700_000_000
_LAST_INDEX = (1 << 63) - 1
_PAGE = 1000
Row = dict[str, Any]


def write_pages(path: Path, shards: int, opened: int) -> None:
    """One answer a line: about `shards` shards, of which about `opened` to twice as many open."""
    with path.open("w", encoding="ascii") as lines:
        page: list[Row] = []
        for row in _rows(shards, opened):
            page.append(row)
            if len(page) == _PAGE:
                _write(lines, page)
                page = []
        if page:
            _write(lines, page)


def _write(lines: TextIO, page: list[Row]) -> None:
    answer = {"Shards": page, "NextToken": "A" * 200}
    lines.write(json.dumps(answer, separators=(",", ":")) + "\n")


def _rows(shards: int, opened: int) -> Iterator[Row]:
    """In id order. Cells take turns: a whole one is split, one of two halves is merged."""
    rows: deque[Row] = deque()
    cells: deque[list[int]] = deque()
    for index in range(opened):
        edges = [i * _HASH_KEYS // opened for i in (index, index + 1)]
        rows.append(_row(index, edges[0], edges[1] - 1, [], _CREATED - 3))
        cells.append([index])
    born, gone, now = opened, 0, _CREATED
    while born < shards:
        now += 1
        parents = cells.popleft()
        closing = [rows[parent - gone] for parent in parents]
        for row, parent in zip(closing, parents, strict=True):
            start = int(row["SequenceNumberRange"]["StartingSequenceNumber"]) >> 148 & 0xFFFFFFFFF
            row["SequenceNumberRange"]["EndingSequenceNumber"] = _number(
                parent, start, now, _LAST_INDEX
            )
        low = int(closing[0]["HashKeyRange"]["StartingHashKey"])
        high = int(closing[-1]["HashKeyRange"]["EndingHashKey"])
        middle = (low + high + 1) // 2
        ranges = [(low, high)] if len(parents) == 2 else [(low, middle - 1), (middle, high)]
        cells.append(list(range(born, born + len(ranges))))
        for edge, other in ranges:
            rows.append(_row(born, edge, other, parents, now + 1))
            born += 1
        while "EndingSequenceNumber" in rows[0]["SequenceNumberRange"]:
            yield rows.popleft()
            gone += 1
    yield from rows


def _row(index: int, low: int, high: int, parents: list[int], start: int) -> Row:
    row: Row = {"ShardId": f"shardId-{index:012d}"}
    names = ("ParentShardId", "AdjacentParentShardId")
    row |= {name: f"shardId-{parent:012d}" for name, parent in zip(names, parents, strict=False)}
    row["HashKeyRange"] = {"StartingHashKey": str(low), "EndingHashKey": str(high)}
    row["SequenceNumberRange"] = {"StartingSequenceNumber": _number(index, start, start, 0)}
    return row


def _number(shard: int, epoch: int, time: int, index: int) -> str:
    return str(
        2 << 184 | epoch << 148 | (shard & 15) << 144 | index << 80 | time << 36 | shard << 4 | 2
    )
