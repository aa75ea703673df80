"""At a terminal a question of a plan is a menu: the number of a choice makes the plan with it."""

from __future__ import annotations

import pytest

from tests.cli.lab import Lab, bare

pytestmark = pytest.mark.lab("full-trimmed-parent-timestamp", "?initial=LATEST")
"""Releases with an auditor need SHARD_END in the row of the trimmed parent; others need nothing."""
MENU = "Which one? 1 to 2, or Enter for none:"


def typed(lab: Lab, answer: str, *more: str) -> tuple[int, str]:
    """What a fix at a terminal ends with and shows."""
    code, shown = lab.at_terminal("fix", *lab.where, "--assume-stopped", *more, answer=answer)
    return code, bare(shown)


def test_the_choice_makes_the_plan_and_is_asked_for_consent(lab):
    code, shown = typed(lab, "1\nyes\n")
    assert code == 0, shown
    assert "1. release=1.15.3, 2.7.2 or 3.5.1: set 0 to SHARD_END" in shown
    assert shown.count(MENU) == 1 and "OK now" in shown
    assert lab.items()["shardId-000000000000"]["checkpoint"] == {"S": "SHARD_END"}


def test_a_dry_run_takes_a_choice_too(lab):
    before = lab.items()
    code, shown = typed(lab, "2\n", "--dry-run")
    assert code == 0 and "release=2.2.11" in shown.rpartition(MENU)[2], shown
    assert lab.items() == before


@pytest.mark.parametrize("answer", ["\n", "no\n3\n0\n"])
def test_without_a_choice_nothing_is_written(lab, answer):
    before = lab.items()
    code, shown = typed(lab, answer)
    assert code == 4, shown
    assert all(f"{wrong} is no number from 1 to 2" in shown for wrong in answer.split())
    assert lab.items() == before


def test_without_a_terminal_each_choice_is_a_command(lab):
    told = lab.typed("fix", *lab.where, "--assume-stopped", "--yes")
    assert told.code == 4 and MENU not in told.out
    commands = [line for line in told.out.splitlines() if "reshardctl fix" in line]
    assert len(commands) == 2 and all("release=" in line for line in commands)
