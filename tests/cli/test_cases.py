"""Every KCL case from end to end: inspect, fix, fix again, undo, on a table in a real server.

What has to come out is in the case files, which cite the runs on the real library.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reshardctl.errors import command_line
from tests.cli.lab import Item, Lab, Result, option_words
from tests.support.case import Case, Expect, all_cases
from tests.support.judging import asked

LEFT_OUT = {"leaseCounter", "leaseOwner", "checkpointOwner"}
"""What no undo brings back: a lower counter, an owner who may be long gone."""
SEVERITIES = ("error", "warning")


def _params():
    for case in [*all_cases("kcl"), *all_cases("kcl-tables")]:
        if not case.rows:
            continue
        for expect in case.expects:
            if expect.fixed is None:
                continue
            for initial, release in _pairs(expect):
                name = f"{case.name}-{initial.partition(':')[0]}-{release}"
                yield pytest.param(case, initial, release, expect, id=name)


def _pairs(expect: Expect) -> Iterator[tuple[str, str]]:
    """Every start mode and every release once; the core runs all of their pairs."""
    *older, newest = expect.releases
    yield from ((initial, newest) for initial in expect.initial)
    yield from ((expect.initial[0], release) for release in older)


def _kept(items: dict[str, Item]) -> dict[str, Item]:
    return {
        key: {n: v for n, v in item.items() if n not in LEFT_OUT} for key, item in items.items()
    }


def _check_inspect(lab: Lab, expect: Expect) -> Result:
    found = lab.inspect("--format", "json")
    assert found.codes == set(expect.findings), found.err
    worst = {f["severity"] for f in found.json["findings"]}
    assert found.code == ("error" in worst)
    return found


def _check_writes(case: Case, expect: Expect, before: dict, after: dict) -> None:
    """Exactly the rows that the case names are written, to exactly what it says."""
    written = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert written == {case.key(shard) for shard in expect.fixed.writes}
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
@pytest.mark.parametrize(("case", "initial", "release", "expect"), list(_params()))
def test_a_case_from_end_to_end(lab_of, wire, case, initial, release, expect):
    fixed = expect.fixed
    lab = lab_of(case, option_words(initial, release, case.stream["created"]))
    before = lab.items()
    seen = _check_inspect(lab, expect)
    assert wire.writes == []
    said = ["--policy", asked(case, fixed.policy).text, "--accept", fixed.accept]
    if seen.json["incarnation"] == "ambiguous":
        said += ["--created", lab.created]

    done = lab.fix(*said, "--format", "json")
    after = lab.items()
    if fixed.refused:
        assert done.code == (4 if fixed.refused.startswith("ask:") else 1), done.err
        assert after == before
        assert wire.writes == []
        return
    assert done.code in (0, 1), done.err
    _check_writes(case, expect, before, after)

    again = lab.dry(*said, "--format", "json")
    assert again.json["decision"]["kind"] == "nothing"
    assert again.code == (1 if again.json["decision"]["residuals"] else 0)
    assert lab.inspect("--format", "json").codes == set(fixed.remains)
    if not fixed.writes:
        assert lab.journals() == []
        return

    assert lab.undo().code == 0
    assert _kept(lab.items()) == _kept(before)
    if lab.items() == after:  # the fix wrote a missing counter, and those stay
        return
    look = command_line("reshardctl", "inspect", lab.locator, "--stream")
    assert lab.undo().says("is undone already", f"see the rows as they are: {look}")
    assert _kept(lab.items()) == _kept(before)
