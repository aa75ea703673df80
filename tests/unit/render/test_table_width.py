"""No table drops a column or cuts a cell, however narrow the terminal is."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reshardctl.exit import Exit
from reshardctl.render.content.audit import SILENT, heads
from reshardctl.render.content.report import Pictures
from reshardctl.render.context import Context
from reshardctl.render.grid import side_by_side
from reshardctl.render.sheet import Sheet
from reshardctl.report.results import Entry, Roundup, Undoing
from tests.support.covering import in_turn
from tests.unit.render.audit import samples as audits
from tests.unit.render.formats import AUDITS, FORMATS, MANY
from tests.unit.render.samples import context, report_of

WIDTHS = (40, 47, 60, 72, 80, 100, 120, 160, 200)
NUMBER = "49680000000000000000000000000000000000000000000000000001"
CELLS = st.sampled_from(
    ["", "0", "SHARD_END", NUMBER, f"AFTER {NUMBER}", "≤ 13m20s", "two words " * 9]
)


def joined(text: str) -> str:
    """Without what wrapping adds."""
    return re.sub(r"\s", "", text)


def seen_whole(cells: list[str], shown: str) -> list[str]:
    """Cells that are not in what is shown: as words in their order, with other cells between the
    lines of a wrapped one."""
    whole = joined(shown)
    return [
        cell for cell in cells
        if joined(cell) not in whole and not all(word in whole for word in cell.split())
    ]


@given(
    rows=st.lists(
        st.tuples(st.just("~"), st.sampled_from(["3", "12, 14"]), CELLS, CELLS, CELLS),
        min_size=1, max_size=4,
    ),
    width=st.sampled_from(WIDTHS), right=st.integers(0, 2),
    wraps=st.sampled_from([(), ("why",), ("now", "why")]), indent=st.sampled_from([0, 2]),
)  # fmt: skip
def test_every_cell_is_shown_whole(rows, width, right, wraps, indent):
    sheet = Sheet(context_of(width))
    sheet.table(["", "shard", "now", "after", "why"], rows, right=right, wraps=wraps, indent=indent)
    shown = sheet.render()
    assert not seen_whole([cell for row in rows for cell in row], shown)
    assert all(len(line) <= width for line in shown.splitlines() if NUMBER not in line)
    numbers = sum(cell.count(NUMBER) for row in rows for cell in row)
    assert shown.count(NUMBER) == numbers, "a number to copy stays in one piece"


@given(
    columns=st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), min_size=1, max_size=8),
    room=st.integers(38, 200),
)
def test_columns_fit_or_there_are_none(columns, room):
    sizes, least = [max(pair) for pair in columns], [min(pair) for pair in columns]
    found = side_by_side(sizes, least, room)
    if found is None:
        assert sum(least) + len(sizes) - 1 > room
        return
    widths, gap = found
    assert sum(widths) + gap * (len(sizes) - 1) <= room and 1 <= gap <= 3
    assert all(low <= width <= size for low, width, size in zip(least, widths, sizes, strict=True))


def context_of(width: int) -> Context:
    report = report_of("a-both", "initial=LATEST&release=3.5.1")
    return dataclasses.replace(context(report), width=width)


@pytest.fixture
def asked_for(monkeypatch):
    """The cells of every table that is made, and its heads."""
    cells: list[str] = []
    real = Sheet.table

    def table(self, heads, rows, *others, **more):
        cells.extend(heads)
        cells.extend(c if isinstance(c, str) else c[0] for row in rows for c in row)
        real(self, heads, rows, *others, **more)

    monkeypatch.setattr(Sheet, "table", table)
    return cells


PLANS = [
    ("a-both", "initial=LATEST&release=3.5.1", "lossless"),
    ("a-both-skip", "initial=LATEST&release=2.7.2", "latest-at-start"),
    ("b", "initial=LATEST&release=3.5.1", "lossless"),
]


@pytest.mark.parametrize(
    ("width", "plan", "verbose"), in_turn(WIDTHS, PLANS, [False, True], every=2)
)
def test_plans(asked_for, plan, width, verbose):
    report = report_of(*plan)
    wanted = dataclasses.replace(context(report), width=width, verbose=verbose)
    shown = FORMATS["text"].plan(report, wanted)
    assert asked_for and not seen_whole(asked_for, shown)


@pytest.mark.parametrize("width", WIDTHS)
def test_several_consumers(asked_for, width):
    report = report_of("b", "initial=LATEST&release=3.5.1")
    locator = report.snapshot.locator
    entry = Entry(locator.text, "orders", locator, ("b",), Exit.FINDINGS, None, report)
    wanted = dataclasses.replace(context(report), width=width)
    shown = MANY["text"](Roundup((entry, entry), Exit.FINDINGS), wanted)
    assert asked_for and not seen_whole(asked_for, shown)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("verbose", [False, True])
def test_undo(asked_for, width, verbose):
    report, after = (report_of(name, "initial=LATEST&release=3.5.1") for name in ("a-both", "b"))
    undoing = Undoing(after, report, report.decision.steps, "/journal")
    wide = dataclasses.replace(context(report), width=width, verbose=verbose)
    shown = FORMATS["text"].undo(undoing, wide)
    assert asked_for and not seen_whole(asked_for, shown)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("made", [audits.clean, audits.everything, audits.alone])
def test_audits(asked_for, made, width):
    shown = AUDITS["text"](made(), dataclasses.replace(audits.CONTEXT, width=width))
    assert asked_for and not seen_whole(asked_for, shown)
    kept = {name for name in heads(made()) if name not in SILENT}
    assert kept <= set(asked_for)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["a-both", "chain-middle-lost", "full-ended-children-lost"])
def test_a_picture_of_shards_names_each_whole(name, width):
    """A narrow picture has the children below their parents; it is cut nowhere."""
    report = report_of(name, "initial=LATEST&release=3.5.1")
    positions = {shard: f"AFTER_SEQUENCE_NUMBER {text}" for shard, text in report.positions.items()}
    wide = Pictures(replace(report, positions=positions), 400)
    narrow = Pictures(replace(report, positions=positions), width)
    shards = list(report.snapshot.lineage)
    lines = narrow.of(shards)
    assert all(len(line) <= width for line in lines)
    assert not Counter(words(wide.of(shards))) - Counter(words(lines))


def words(lines: list[str]) -> list[str]:
    """Names, times and positions, without what draws the lines between them."""
    return re.findall(r"[\w…]+", " ".join(lines))


@pytest.mark.parametrize("width", [40, 60, 70, 80, 100, 160])
def test_results_keep_their_words(width):
    found = []
    for name in ("a-both", "b"):
        report = report_of(name, "initial=LATEST&release=3.5.1")
        locator = report.snapshot.locator
        found.append(Entry(locator.text, "orders", locator, (name,), Exit.FINDINGS, None, report))
    first = found[0].report
    assert first is not None
    wanted = dataclasses.replace(context(first), width=width)
    lines = MANY["text"](Roundup(tuple(found), Exit.FINDINGS), wanted).splitlines()
    assert told(lines) == "1 error 1 error, 1 warning"
    assert all(len(line) <= width for line in lines if "kcl://" not in line)


def told(lines: list[str]) -> str:
    """The results, from the column of a table or from the block of each consumer."""
    head = next((line for line in lines if "consumer" in line and "result" in line), None)
    if head is None:
        blocks = [line.split() for line in lines if line.startswith("      result ")]
        return " ".join(word for _, *words in blocks for word in words)
    column = head.index("result")
    table = lines[lines.index(head) + 1 :]
    cells = [line[column:].strip() for line in table[: table.index("")]]
    return " ".join(cell for cell in cells if cell)
