"""The crash tier: killed anywhere, a fix ends whole, or goes back whole.

As SQLite tests its own ("How SQLite Is Tested", crash testing): after any crash a change is wholly
there or wholly not. Every plan of up to six writes in one to six steps, every point around every
write, the answer lost before and after.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import HalfDone
from reshardctl.journal import read
from reshardctl.stores.base import Store
from tests.contracts.memory_store import MemoryStore
from tests.support.plans import (
    MODES,
    Crashing,
    Killed,
    Plan,
    counters,
    cuts,
    journal_of,
    plan_of,
    settled,
    twice,
)
from tests.unit.journal.bucket import begin, go_back, go_on

PLANS = [plan_of(sizes) for total in range(1, 7) for sizes in cuts(total)] + [twice()]
ENOUGH = ("4", "1+1+2", "2+3", "1+1+1+1+1", "1+2+3")
"""Of the plans of four to six writes, those that are tried at every turn."""
SMALL = [plan_of(sizes) for sizes in ([1], [2], [1, 1], [2, 1], [1, 1, 1])] + [twice()]
STOPS = (Killed, HalfDone)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of journals: what a sync adds is not what is tested here."""
    monkeypatch.setattr("os.fsync", lambda _: None)


def points(plan: Plan) -> Iterator[tuple[int, str]]:
    for at in range(len(plan.steps)):
        for mode in MODES:
            yield at, mode


def is_whole(plan: Plan, medium: MemoryStore) -> None:
    assert medium.read() == plan.after()


def is_back(plan: Plan, medium: Store, left: dict[str, int]) -> None:
    assert settled(medium.read()) == settled(sorted(plan.rows, key=lambda image: image.key))
    assert all(count >= left.get(key, 0) for key, count in counters(medium.read()).items())


def is_between(plan: Plan, medium: MemoryStore) -> None:
    """Every step wholly there or wholly not, and in order."""
    assert medium.read() in [plan.after(count) for count in range(len(plan.steps) + 1)]


def crashed(plan: Plan, path: Path, at: int, mode: str) -> MemoryStore:
    medium = MemoryStore(plan.rows)
    with pytest.raises(STOPS):
        begin(plan, Crashing(medium, at, mode), path)
    is_between(plan, medium)
    return medium


def test_the_plans_are_all_there_are() -> None:
    """2^(n-1) ways to cut n writes into steps: 63 for one to six."""
    assert len(PLANS) == 63 + 1
    assert {len(plan.steps) for plan in PLANS} == set(range(1, 7))


def _params() -> Iterator[Any]:
    for plan in PLANS:
        often = sum(len(step.writes) for step in plan.steps) < 4 or plan.name in ENOUGH
        yield pytest.param(plan, marks=() if often else pytest.mark.long, id=plan.name)


@pytest.mark.parametrize("plan", list(_params()))
def test_killed_anywhere_it_is_finished_or_goes_back(plan: Plan, tmp_path: Path) -> None:
    for number, (at, mode) in enumerate(points(plan)):
        path, copy = tmp_path / f"{number}.jsonl", tmp_path / f"{number}-back.jsonl"
        medium = crashed(plan, path, at, mode)
        copy.write_bytes(path.read_bytes())
        other, left = MemoryStore(medium.read()), counters(medium.read())
        go_on(medium, path)
        is_whole(plan, medium)
        go_back(other, copy)
        is_back(plan, other, left)


again = pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
"""Every third pair of crashes at every turn."""


@again
@pytest.mark.parametrize("plan", SMALL, ids=lambda plan: plan.name)
def test_killed_again_while_going_on(plan: Plan, step: int, tmp_path: Path) -> None:
    count = len(plan.steps)
    for number, (at, mode, again, mode_again) in enumerate(islice(pairs(plan), 0, None, step)):
        if at + again >= count:
            continue  # there are no so many writes left
        path, copy = tmp_path / f"{number}.jsonl", tmp_path / f"{number}-back.jsonl"
        medium = crashed(plan, path, at, mode)
        with suppress(*STOPS):
            go_on(Crashing(medium, again, mode_again), path)
        is_between(plan, medium)
        copy.write_bytes(path.read_bytes())
        other, left = MemoryStore(medium.read()), counters(medium.read())
        go_on(medium, path)
        is_whole(plan, medium)
        go_back(other, copy)
        is_back(plan, other, left)


@again
@pytest.mark.parametrize("plan", SMALL, ids=lambda plan: plan.name)
def test_killed_again_while_going_back(plan: Plan, step: int, tmp_path: Path) -> None:
    for number, (at, mode, again, mode_again) in enumerate(islice(pairs(plan), 0, None, step)):
        if again > at:
            continue  # there are no so many writes to take back
        path = tmp_path / f"{number}.jsonl"
        medium = crashed(plan, path, at, mode)
        left = counters(medium.read())
        with suppress(*STOPS):
            go_back(Crashing(medium, again, mode_again), path)
        if (run := read(path).undo) is None or run.outcome != "undone":
            go_back(medium, path)
        is_back(plan, medium, left)


def pairs(plan: Plan) -> Iterator[tuple[int, str, int, str]]:
    """Every two writes, and what happens at them: every two modes at plans of up to two writes, at
    the others each mode with one at each two writes, and each two modes at some."""
    small = sum(len(step.writes) for step in plan.steps) < 3
    for at, mode in points(plan):
        for again, mode_again in points(plan):
            turned = (MODES.index(mode) + at + 2 * again) % len(MODES)
            if small or mode_again == MODES[turned]:
                yield at, mode, again, mode_again


# torn


def test_killed_while_intents_are_written_nothing_is_there(tmp_path: Path) -> None:
    """Cut every 37 bytes after the header: no write had been sent yet, and all are after it."""
    plan = plan_of([1, 2])
    path = tmp_path / "j.jsonl"
    with journal_of(plan, MemoryStore(plan.rows), path) as journal:
        start = path.stat().st_size
        journal.intend(enumerate(plan.steps))
    content = path.read_bytes()
    for size in range(start, len(content), 37):
        path.write_bytes(content[:size])
        medium = MemoryStore(plan.rows)
        go_back(medium, path)
        is_back(plan, medium, counters(plan.rows))
        path.write_bytes(content[:size])
        go_on(medium := MemoryStore(plan.rows), path)
        is_whole(plan, medium)
