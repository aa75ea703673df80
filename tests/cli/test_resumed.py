"""`fix` ends between two of its steps; `fix --resume` then writes the same rows as a whole fix.

The cases are all of KCL whose plan has several steps: what an eviction keeps readable, what is
skipped on purpose, and rows that each matter by themselves.
"""

from __future__ import annotations

import shlex

import pytest

from tests.cli.lab import Lab, option_words
from tests.support.case import CASES, load
from tests.support.covering import covering
from tests.support.judging import asked

CASES_OF_STEPS = {
    "a-both-skip": ("LATEST", "3.5.1"),
    "audit-throws": ("LATEST", "3.5.1"),
    "c-latest": ("LATEST", "3.5.1"),
    "i1-cousins": ("LATEST", "3.5.1"),
    "latest-at-start-unread": ("LATEST", "3.5.1"),
    "latest-below-a-trimmed-lease": ("TRIM_HORIZON", "3.5.1"),
    "latest-beside-a-hole": ("TRIM_HORIZON", "3.5.1"),
}
LEFT_OUT = ("leaseCounter", "leaseOwner", "checkpointOwner")


def kept(lab: Lab) -> dict[str, dict[str, object]]:
    """The rows without what no undo brings back."""
    return {
        key: {name: value for name, value in item.items() if name not in LEFT_OUT}
        for key, item in lab.items().items()
    }


def _fixed(name: str) -> tuple[str, str]:
    """Policy and consent of the case."""
    initial, release = CASES_OF_STEPS[name]
    (fixed,) = {
        (e.fixed.policy, e.fixed.accept) for e in load(CASES / "kcl" / f"{name}.toml").expects
        if e.fixed is not None and initial in e.initial and release in e.releases
    }  # fmt: skip
    return fixed


@pytest.mark.parametrize("name", covering(CASES_OF_STEPS, lambda name: _fixed(name)[:1]))
def test_the_rest_is_written_by_a_resumed_fix(lab_of, name):
    initial, release = CASES_OF_STEPS[name]
    case = load(CASES / "kcl" / f"{name}.toml")
    fixed = _fixed(name)
    lab = lab_of(case, option_words(initial, release, case.stream["created"]))
    before = kept(lab)
    argv = ["--policy", asked(case, fixed[0]).text, "--accept", fixed[1], "--created", lab.created]
    whole = lab.fix(*argv)
    assert whole.code in (0, 1), whole.err
    first, second = lab.wire.writes
    wanted = kept(lab)
    assert lab.undo().code == 0 and kept(lab) == before
    lab.journal().unlink()
    lab.wire.fail(second, "AccessDeniedException", after=int(first == second))
    half = lab.fix(*argv)
    assert half.code == 5, half.err
    assert half.says("1 of 2 steps are in place", "fix --resume", "undo")
    assert kept(lab) not in (before, wanted)
    lab.wire.faults.clear()
    mixed = kept(lab)
    resume = ("fix", "--resume", lab.journal(), "--assume-stopped", "--yes", "--accept", fixed[1])
    resumed = lab.cli(*resume)
    if fixed[0].startswith("latest"):  # the resume did not ask for what the policy skips
        assert resumed.code == 4 and resumed.says("costs more than --accept takes", "--accept skip")
        assert kept(lab) == mixed
        resumed = lab.cli(*shlex.split(resumed.err.strip().splitlines()[-1])[1:])
    assert resumed.code == whole.code, resumed.err
    assert kept(lab) == wanted
    assert lab.undo().code == 0
    assert kept(lab) == before
