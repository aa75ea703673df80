"""The state of a journal after each record that changes it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from msgspec.structs import replace

from reshardctl.errors import UsageError
from reshardctl.journal import Journal, read
from reshardctl.journal.listing import State, entries, files, needed, newer, state_of, unfinished
from reshardctl.model import Image, keys_of
from tests.contracts.memory_store import MemoryStore
from tests.support.plans import RESTORE, header, journal_of, plan_of

PLAN = plan_of([1, 2])
STEPS = list(enumerate(PLAN.steps))


def begun(journal: Journal) -> None:
    journal.intend(STEPS)


def half_written(journal: Journal) -> None:
    begun(journal)
    journal.applied(0)


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


def undo_of_nothing(journal: Journal) -> None:
    """Its intents came to nothing, so the fix is as it was."""
    undo_begun(journal)
    journal.nothing_written("refused")


def undone(journal: Journal) -> None:
    undo_begun(journal)
    journal.undone()


@pytest.mark.parametrize(("course", "state", "in_place", "rows"), [
    (lambda _: None, State.NOTHING, False, (0, 0)),
    (begun, State.HALF_DONE, True, (0, 3)),
    (half_written, State.HALF_DONE, True, (1, 2)),
    (written, State.HALF_DONE, True, (3, 0)),
    (failed, State.HALF_DONE, True, (0, 3)),
    (nothing, State.NOTHING, False, (0, 0)),
    (verified, State.APPLIED, True, (3, 0)),
    (refused_undo, State.APPLIED, True, (3, 0)),
    (undo_begun, State.UNDO_BEGUN, True, (0, 1)),
    (undo_failed, State.UNDO_BEGUN, True, (0, 1)),
    (undo_of_nothing, State.APPLIED, True, (3, 0)),
    (undone, State.UNDONE, False, (0, 1)),
])  # fmt: skip
def test_a_state_follows_from_the_records(tmp_path, course, state, in_place, rows):
    """rows: how many are written, and with a write whose answer is not recorded, of three."""
    path = tmp_path / "20-app.jsonl"
    with journal_of(PLAN, MemoryStore(PLAN.rows), path) as journal:
        course(journal)
    assert state_of(read(path)) is state
    progress = read(path).run.progress
    assert (progress.written, progress.doubtful, progress.planned) == (*rows, 3)
    (entry,) = entries(files(tmp_path))
    assert (entry.state, entry.in_place, entry.open) == (state, in_place, False)


def test_going_on_that_is_refused_leaves_what_was_written_before(tmp_path: Path) -> None:
    path = tmp_path / "20-app.jsonl"
    with journal_of(PLAN, MemoryStore(PLAN.rows), path) as journal:
        half_written(journal)
    with Journal.open(path)[0] as journal:
        journal.nothing_written("refused")
    assert state_of(read(path)) is State.HALF_DONE


ITS_ROWS = keys_of(PLAN.steps)


@pytest.mark.parametrize(("plan", "when", "rows", "is_younger"), [
    ("a" * 64, "2026-09-22T09:14:01Z", ITS_ROWS, True),
    ("f" * 64, "2026-09-22T09:14:01Z", ITS_ROWS, True),
    ("a" * 64, "2026-09-22T09:14:01Z", {"shardId-000000000009"}, False),
    ("a" * 64, "2026-09-22T09:14:00Z", ITS_ROWS, False),
    ("a" * 64, "2026-09-22T09:13:59Z", ITS_ROWS, False),
    ("c" * 64, "2026-09-22T09:14:01Z", ITS_ROWS, False),
], ids=["later", "its digest is higher", "other rows", "same second", "earlier", "a copy"])
def test_a_later_fix_of_the_same_rows_has_to_be_undone_first(
    tmp_path: Path, plan: str, when: str, rows: Collection[str], is_younger: bool
) -> None:
    store = MemoryStore(PLAN.rows)
    for name, told in (
        ("own", {"plan": "c" * 64, "when": "2026-09-22T09:14:00Z"}),
        ("other", {"plan": plan, "when": when}),
        ("elsewhere", {"plan": "e" * 64, "when": "2026-09-22T09:15:00Z", "identity": {"arn": "x"}}),
    ):
        path = tmp_path / f"{name}.jsonl"
        with Journal.create(path, replace(header(PLAN, store), **told)) as journal:
            written(journal)
    shelf = entries(files(tmp_path))
    (own,) = (entry for entry in shelf if entry.name == "own")
    assert own.records is not None
    found = newer(shelf, own.records, rows)
    assert [entry.name for entry in found] == ["other"] * is_younger


@pytest.mark.parametrize(("course", "rows", "later", "told"), [
    (begun, "before", None, True),
    (begun, "after", None, True),
    (undo_begun, "after", None, True),
    (verified, "after", None, False),
    (begun, "moved", None, False),
    (begun, "after", begun, True),
    (begun, "after", verified, False),
], ids=["nothing written yet", "all written", "undo", "verified", "moved on",
        "a later one, half done", "a later one, verified"])  # fmt: skip
def test_what_was_begun_is_told_until_its_rows_are_somebody_elses(
    tmp_path: Path, course: Callable[[Journal], None], rows: str,
    later: Callable[[Journal], None] | None, told: bool,
) -> None:
    store = MemoryStore(PLAN.rows)
    for name, when, done in (("own", "00", course), ("later", "01", later)):
        if done is not None:
            said = {"plan": name, "when": f"2026-09-22T09:14:{when}Z"}
            path = tmp_path / f"{name}.jsonl"
            with Journal.create(path, replace(header(PLAN, store), **said)) as journal:
                done(journal)
    moved = [
        Image(row.key, {**row.attributes, "checkpoint": {"S": "7"}})
        for row in (*PLAN.rows, *PLAN.after())
    ]
    now = {"before": PLAN.rows, "after": PLAN.after(), "moved": moved}[rows]
    found = unfinished(
        entries(files(tmp_path)), {row.key: row for row in now}, RESTORE.volatile_attributes
    )
    assert ("own" in [entry.name for entry in found]) is told


def test_a_journal_that_does_not_say_when_it_began_is_kept(tmp_path: Path) -> None:
    told = replace(header(PLAN, MemoryStore(PLAN.rows)), when="yesterday")
    Journal.create(tmp_path / "20-app.jsonl", told).close()
    (entry,) = entries(files(tmp_path))
    assert needed(entry, 2e9, 0.0) == (
        "when it began cannot be read, so nothing tells how old it is"
    )


def test_the_newest_journal_comes_first_and_an_unreadable_one_last(tmp_path: Path) -> None:
    for name, minute in (("b", "14"), ("c", "16"), ("a", "15")):
        told = replace(header(PLAN, MemoryStore(PLAN.rows)), when=f"2026-09-22T09:{minute}:00Z")
        Journal.create(tmp_path / f"{name}.jsonl", told).close()
    (tmp_path / "d.jsonl").write_text("not one of ours\n")
    assert [entry.name for entry in entries(files(tmp_path))] == ["c", "a", "b", "d"]


def test_a_folder_that_cannot_be_listed_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    assert files(tmp_path / "absent") == []
    with pytest.raises(UsageError, match="File name too long") as caught:
        files(tmp_path / ("x" * 300))
    assert "RESHARDCTL_STATE_DIR" in caught.value.next


@pytest.mark.parametrize(("notes", "words"), [
    ({"bootstrap": "yes", "assume-stopped": "yes"}, ("--bootstrap",)),
    ({"assume-stopped": "yes"}, ()),
])  # fmt: skip
def test_a_fix_of_a_new_application_is_resumed_as_one(notes, words):
    made = replace(header(PLAN, MemoryStore(PLAN.rows)), notes=notes)
    assert made.resumed_with == words
