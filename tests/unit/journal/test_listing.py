"""The state of a journal after each record that changes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reshardctl.journal import Journal, read
from reshardctl.journal.listing import State, entries, files, state_of
from tests.contracts.memory_store import MemoryStore
from tests.support.plans import journal_of, plan_of

PLAN = plan_of([1, 2])
STEPS = list(enumerate(PLAN.steps))


def begun(journal: Journal) -> None:
    journal.intend(STEPS)


def written(journal: Journal) -> None:
    begun(journal)
    for index, _ in STEPS:
        journal.applied(index)


def verified(journal: Journal) -> None:
    written(journal)
    journal.verified()


def failed(journal: Journal) -> None:
    begun(journal)
    journal.failed("the store does not answer")


def nothing(journal: Journal) -> None:
    begun(journal)
    journal.nothing_written("refused")


def refused_undo(journal: Journal) -> None:
    """Of which nothing is recorded before its intents."""
    verified(journal)
    journal.begin_undo(PLAN.steps)


def undo_begun(journal: Journal) -> None:
    refused_undo(journal)
    journal.intend(STEPS[:1])


def undo_failed(journal: Journal) -> None:
    undo_begun(journal)
    journal.failed("the store does not answer")


def undone(journal: Journal) -> None:
    undo_begun(journal)
    journal.undone()


@pytest.mark.parametrize(("course", "state", "in_place"), [
    (lambda _: None, State.NOTHING, False),
    (begun, State.HALF_DONE, True),
    (written, State.HALF_DONE, True),
    (failed, State.HALF_DONE, True),
    (nothing, State.NOTHING, False),
    (verified, State.APPLIED, True),
    (refused_undo, State.APPLIED, True),
    (undo_begun, State.UNDO_BEGUN, True),
    (undo_failed, State.UNDO_BEGUN, True),
    (undone, State.UNDONE, False),
])  # fmt: skip
def test_a_state_follows_from_the_records(
    tmp_path: Path, course: Callable[[Journal], None], state: State, in_place: bool
) -> None:
    path = tmp_path / "20-app.jsonl"
    with journal_of(PLAN, MemoryStore(PLAN.rows), path) as journal:
        course(journal)
    assert state_of(read(path)) is state
    (entry,) = entries(files(tmp_path))
    assert (entry.state, entry.in_place, entry.open) == (state, in_place, False)
