"""Every KCL case from end to end: inspect, fix, fix again, undo, on a table in a real server.

What has to come out is in the case files, which cite the runs on the real library.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reshardctl.errors import command_line
from tests.cli.end_to_end import fixed_cases, repaired
from tests.cli.lab import Item, option_words
from tests.support.case import Case, Expect

LEFT_OUT = {"leaseCounter", "leaseOwner", "checkpointOwner"}
"""What no undo brings back: a lower counter, an owner who may be long gone."""
def _pairs(expect: Expect) -> Iterator[tuple[str, str]]:
    """Every start mode and every release once; the core runs all of their pairs."""
    *older, newest = expect.releases
    yield from ((initial, newest) for initial in expect.initial)
    yield from ((expect.initial[0], release) for release in older)


def _kept(items: dict[str, Item]) -> dict[str, Item]:
    return {
        key: {n: v for n, v in item.items() if n not in LEFT_OUT} for key, item in items.items()
    }


def _check_writes(case: Case, expect: Expect, before: dict, after: dict) -> None:
    """The rows are written to exactly what the case says."""
    for shard, wanted in expect.fixed.writes.items():
        key = case.key(shard)
        if wanted == "delete":
            assert key not in after
        elif wanted == "same":
            assert after[key]["checkpoint"] == before[key]["checkpoint"]
        else:
            position = case.number_of(wanted) if wanted.startswith("s") else wanted
            assert after[key]["checkpoint"] == {"S": position}


@pytest.mark.long
@pytest.mark.parametrize(("case", "initial", "release", "expect"), list(
    fixed_cases("kcl", "kcl-tables", pairs=_pairs, holds=lambda case: case.rows)
))
def test_a_case_from_end_to_end(lab_of, case, initial, release, expect):
    lab = lab_of(case, option_words(initial, release, case.stream["created"]))
    rows = repaired(lab, case, expect, case.key, kept=_kept, left_alone_fails=True)
    if rows is None:
        return
    before, after = rows
    _check_writes(case, expect, before, after)
    if lab.items() == after:  # the fix wrote a missing counter, and those stay
        return
    look = command_line("reshardctl", "inspect", lab.locator, "--stream")
    assert lab.undo().says("is undone already", f"see the rows as they are: {look}")
    assert _kept(lab.items()) == _kept(before)
