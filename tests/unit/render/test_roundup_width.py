"""The table of several consumers whose names are long locators: what is wrong stays legible."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reshardctl.exit import Exit
from reshardctl.report.results import Entry, Roundup
from tests.unit.render.formats import MANY
from tests.unit.render.samples import context, report_of


@pytest.mark.parametrize("width", [40, 60, 70, 80, 100, 160])
def test_results_keep_their_words(width):
    found = []
    for name in ("a-both", "b"):
        report = report_of(name, "initial=LATEST&release=3.5.1")
        locator = report.snapshot.locator
        found.append(Entry(locator.text, "orders", locator, (name,), Exit.FINDINGS, None, report))
    first = found[0].report
    assert first is not None
    wanted = replace(context(first), width=width)
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
