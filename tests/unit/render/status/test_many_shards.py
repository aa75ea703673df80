"""1,500 shards: every one is in every format, once, and nothing of it is cut.

What depends on the width of the terminal, and not on how many shards there are, is looked at on
500 of them.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from io import StringIO

import pytest

from reshardctl.render.formats import write
from tests.unit.render.samples import context
from tests.unit.render.status.samples import ALL_SHARDS, LOST, SPLIT, WHOLE, big, big_report

WIDTHS = (40, 60, 80, 100, 120, 160, 200, 1 << 20)
ALL, FEW = (SPLIT, WHOLE), (150, 50)
"""Shards that were split, each into two, and shards that were not."""


def shown(
    form: str, width: int = 80, verbose: bool = False, size: tuple[int, int] = ALL
) -> str:
    wanted = replace(context(big_report(*size)), width=width, verbose=verbose)
    return write(big(*size), form, wanted)


def test_the_sample_is_what_it_says():
    assert len(ALL_SHARDS) == 1_500 == len(big().rows) == big().total
    lost = {f"shardId-{SPLIT + WHOLE + index:012d}" for index in range(LOST)}
    assert {row.shard for row in big(only_bad=True).rows} == lost
    assert {row.rules for row in big(only_bad=True).rows} == {("RSH203",)}


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_text_has_every_shard_once_and_every_owner_whole_with_v(width, verbose):
    has_every_shard_once(FEW, width, verbose)


def test_text_has_every_one_of_1_500_shards_once():
    has_every_shard_once(ALL, 80, verbose=True)


def has_every_shard_once(size: tuple[int, int], width: int, verbose: bool) -> None:
    split, whole = size
    count, first = 3 * split + whole, split + whole
    text = shown("text", width, verbose, size)
    lines = text.splitlines()
    body = lines[lines.index("") : lines.index(f"{count} shards: 10 error, {count - 10} ok.")]
    rows = [m[1] for line in body if (m := re.match(r"(?:shard )?(\d+)(?:\s|$)", line))]
    assert sorted(map(int, rows)) == list(range(count))
    assert list(map(int, rows[:LOST])) == list(range(first, first + LOST))
    joined = re.sub(r"\s", "", text) if width < 200 else text
    # Broken lines interleave with other columns' cells, so pieces are looked for.
    for piece in ("ip-10-0-39-7.", "6f0c1d6e-", "000000000039") if verbose else ():
        assert joined.count(piece) >= count * 24 // 1000
    names = ("reshardctl ", "6f0c1d6e", "arn:aws", "kcl://", "'kcl:", "closed since", "number 4")
    for line in lines:
        assert len(line) <= width or any(name in line for name in names), line


def test_one_line_for_each_shard_in_a_pipe():
    lines = shown("text", 1 << 20).splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("shard "))
    table = lines[head + 1 : lines.index("", head)]
    assert len(table) == 1_500
    assert all(line.endswith((" ok", " error RSH203")) for line in table)
    assert any("ip-10-0-39-7.ec2.internal:6f0c1d6e-2b7f-4c39-9d0a-" in line for line in table)


def test_documents_have_every_shard_once():
    document = json.loads(shown("json"))
    assert sorted(row["shard"] for row in document["shards"]) == ALL_SHARDS
    lines = [json.loads(line) for line in shown("jsonl").splitlines()]
    assert sorted(line["shard"] for line in lines if line["type"] == "shard") == ALL_SHARDS
    assert lines[-1]["type"] == "summary" and lines[-1]["total_shards"] == 1_500
    table = list(csv.DictReader(StringIO(shown("csv"))))
    assert sorted(row["shard"] for row in table) == ALL_SHARDS
    assert sum(row["verdict"] == "error" for row in table) == LOST
