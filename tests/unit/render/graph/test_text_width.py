"""Text of `graph` fits the terminal and cuts nothing off, however narrow that is."""

from __future__ import annotations

import re

import pytest

from tests.support.covering import in_turn
from tests.unit.render.graph.samples import hot_key_case, report_on, wide_case
from tests.unit.render.graph.test_formats import SPLIT
from tests.unit.render.graph.written import draw, draw_several
from tests.unit.render.samples import CASES, report_of

WIDTHS = (40, 47, 60, 72, 80, 100, 120, 160, 200)
REPORTS = [
    *(report_of(name, "initial=LATEST&release=3.5.1") for name in CASES if "a-both" in name),
    report_on(hot_key_case()), report_on(wide_case(24)), report_on(wide_case(100)),
]  # fmt: skip

NARROW = """\
orders   us-east-1   ACTIVE   3 open, 1
  closed   2026-11-21T00:25:00Z
kcl://orders-app?initial=LATEST&release=
  3.5.1
✗ 2 stalls: 2, 3

0  closed 00:10  SHARD_END
├─ 2  open  no position  unread 14m59s
│    ✗ stalls
└─ 3  open  no position  unread 14m59s
     ✗ stalls
1  open  4968…7410  unread 17m20s
"""


def drawn(report, width: int | None) -> str:
    lineage, now = report.snapshot.lineage, report.snapshot.now
    return draw("text", lineage, now, report, width=width)


def cells(text: str) -> set[str]:
    """The words of a text, without its lines and the marks of its forks."""
    return set(re.findall(r"[^\s─┬┐┴┼└├│]+", text))


@pytest.mark.parametrize(("report", "width"), in_turn(REPORTS, WIDTHS, every=3))
def test_no_line_is_wider_than_the_terminal(report, width):
    text = drawn(report, width)
    assert max(map(len, text.splitlines())) <= width
    if width >= 60:
        assert cells(text) == cells(drawn(report, None))


@pytest.mark.parametrize("width", WIDTHS)
def test_nor_with_several_consumers(width):
    report = REPORTS[0]
    named = [(name, report) for name in ("fraud", "etl", "search")]
    lineage, now = report.snapshot.lineage, report.snapshot.now
    text = draw_several("text", lineage, now, named, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("stalls") == 9, "both shards of each, and how many in its head"


def test_children_stand_below_their_parents_where_there_is_no_room():
    assert drawn(report_of("a-both", "initial=LATEST&release=3.5.1"), 40) == NARROW


def test_where_there_is_room_nothing_changes():
    assert drawn(report_of("a-both", "initial=LATEST&release=3.5.1"), 91) == SPLIT
