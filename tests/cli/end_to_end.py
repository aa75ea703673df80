"""Cases from end to end: inspect, fix, fix again, undo. What has to come out is in their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cli.lab import Item, Lab
from tests.support.case import Case, Expect, all_cases
from tests.support.judging import asked


def fixed_cases(
    *libraries: str, pairs: Callable[[Expect], Iterator[tuple[str, str]]],
    holds: Callable[[Case], Any],
) -> Iterator[Any]:
    """Parameters `(case, initial, release, expect)` of each expectation that says what fix does.

    pairs: its start modes and releases. holds: whether the store can have the case's rows.
    """
    for case in [case for library in libraries for case in all_cases(library)]:
        for expect in case.expects:
            if expect.fixed is None or not holds(case):
                continue
            for initial, release in dict.fromkeys(pairs(expect)):
                name = f"{case.name}-{initial.partition(':')[0]}-{release}"
                name += "-probed" if expect.probe else ""
                yield pytest.param(case, initial, release, expect, id=name)


def ends(expect: Expect) -> Iterator[tuple[str, str]]:
    """Every start mode with the newest release, and the oldest release."""
    yield from ((initial, expect.releases[-1]) for initial in expect.initial)
    yield expect.initial[0], expect.releases[0]


def repaired(
    lab: Lab, case: Case, expect: Expect, key: Callable[[int], str], *,
    kept: Callable[[dict[str, Item]], Any] = lambda items: items, left_alone_fails: bool = False,
) -> tuple[dict[str, Item], dict[str, Item]] | None:
    """The rows before and after a fix that was undone; `None` where nothing is to be written.

    key: of a shard's row. kept: rows without what no undo gives back. left_alone_fails: whether a
    dry run after the fix ends with 1 just where it leaves shards alone.
    """
    fixed, probe = expect.fixed, ["--probe"] if expect.probe else []
    assert fixed is not None
    before = lab.items()
    seen = lab.inspect("--format", "json", *probe)
    assert seen.codes == set(expect.findings), seen.err
    assert seen.code == ("error" in {f["severity"] for f in seen.json["findings"]})
    said = ["--policy", asked(case, fixed.policy).text, "--accept", fixed.accept, *probe]
    if seen.json["incarnation"] == "ambiguous":
        said += ["--created", lab.created]
    assert lab.wire.writes == []
    done = lab.fix(*said, "--format", "json")
    after = lab.items()
    if fixed.refused:
        kind = fixed.refused.partition(":")[0]
        assert done.code == {"ask": 4, "residual": 1}.get(kind, seen.code), done.err
        assert after == before and lab.wire.writes == []
        return None
    assert done.code in (0, 1), done.err
    written = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert written == {key(shard) for shard in fixed.writes}
    again = lab.dry(*said, "--format", "json")
    kind = again.json["decision"]["kind"]
    assert kind == "nothing" or (kind == "no-safe-plan" and fixed.remains), "nothing to write"
    assert again.code == bool(again.json["decision"].get("residuals")) or not left_alone_fails
    assert lab.inspect("--format", "json", *probe).codes == set(fixed.remains)
    if not fixed.writes:
        assert lab.journals() == []
        return None
    assert lab.undo().code == 0
    assert kept(lab.items()) == kept(before), "byte and type"
    return before, after
