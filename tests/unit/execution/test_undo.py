"""Undo: every byte and type back, never a counter down, never an owner back, or nothing at all."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import HalfDone, UndoRefused, UsageError
from reshardctl.execution.apply import rest_of
from reshardctl.execution.undo import Whole, require_restoring, undo_steps, unreadable
from reshardctl.journal import Journal, Records, read
from reshardctl.model import Create, Delete, Image, Step, Update, Write
from reshardctl.model.write_state import WriteResult
from reshardctl.planning.writes import rebase
from tests.contracts.memory_store import MemoryStore
from tests.support.plans import (
    FIRST,
    MOVING,
    RESTORE,
    Plan,
    apply,
    counters,
    ended,
    journal_of,
    lease,
    plan_of,
    resume,
    settled,
    twice,
)

PLANS = [plan_of(sizes) for sizes in ([1], [3], [1, 1, 1], [2, 2, 2])] + [twice()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "j.jsonl"


def fixed(plan: Plan, path: Path, count: int | None = None) -> MemoryStore:
    """A store in which a plan, or its first steps, was applied."""
    medium = MemoryStore(plan.rows)
    with journal_of(plan, medium, path) as journal:
        intents = journal.intend(enumerate(rebase(plan.steps, medium.read(), MOVING)))
        for intent in intents[:count]:
            medium.write(intent.step, intent.token)
            journal.applied(intent.index)
    return medium


class Clearing(MemoryStore):
    """Notes that it was to clear up what a killed process may have left."""

    cleared = False

    def recover(self) -> None:
        """Nothing is there."""
        self.cleared = True


@pytest.mark.parametrize(("looked", "cleared"), [
    (rest_of, True), (partial(rest_of, only_shown=True), False),
], ids=["to be written", "to be shown"])  # fmt: skip
def test_what_is_only_to_be_shown_clears_nothing_up(path, looked, cleared):
    medium = fixed(PLANS[1], path, 0)
    store = Clearing(medium.read())
    left = looked(read(path), store, volatile_attributes=MOVING)
    assert (len(left.todo), store.cleared) == (len(PLANS[1].steps), cleared)


def steps_back(path: Path, medium: MemoryStore) -> list[Step]:
    current = {image.key: image for image in medium.read()}
    return undo_steps(read(path), current, RESTORE, MOVING)


def undone(path: Path, medium: MemoryStore) -> Records:
    steps = steps_back(path, medium)
    journal, _ = Journal.open(path)
    with journal:
        journal.begin_undo(steps)
        apply(steps, medium, journal, check=lambda rows: rebase(steps, rows, MOVING))
        journal.undone()
    return read(path)


def changed_row(medium: MemoryStore, key: str, **attributes: dict[str, Any] | None) -> None:
    """attributes: `None` to take one away."""
    row = {**medium.rows[key].attributes, **attributes}
    medium.plant(Image(key, {name: value for name, value in row.items() if value is not None}))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_every_attribute_comes_back(plan: Plan, path: Path) -> None:
    medium = fixed(plan, path)
    left = counters(medium.read())
    records = undone(path, medium)
    assert settled(medium.read()) == settled(sorted(plan.rows, key=lambda image: image.key))
    assert records.undo is not None and records.undo.outcome == "undone"
    for key, count in counters(medium.read()).items():
        assert count >= left.get(key, 0)
    touched = {write.key for step in plan.steps for write in step.writes}
    back = {image.key: image for image in medium.read()}
    for image in plan.rows:
        owner = back[image.key].attributes.get("leaseOwner")
        assert owner == (None if image.key in touched else {"S": "w1"})


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "without its record"])
@pytest.mark.parametrize("count", range(4))
def test_only_what_landed_is_taken_back(path: Path, count: int, recorded: bool) -> None:
    plan = plan_of([1, 1, 1])
    medium = fixed(plan, path, count if recorded else 0)
    for step in () if recorded else rebase(plan.steps, medium.read(), MOVING)[:count]:
        medium.write(step, f"t{step.title}")
    back = steps_back(path, medium)
    assert [step.title for step in back] == [f"undo: step {n}" for n in reversed(range(count))]
    undone(path, medium)
    assert settled(medium.read()) == settled(list(plan.rows))


def test_a_step_of_one_title_has_the_writes_reversed(path: Path) -> None:
    plan = plan_of([3])
    (step,) = steps_back(path, fixed(plan, path))
    changes = [type(write.change) for write in step.writes]
    assert changes == [Create, Delete, Update]


@pytest.mark.parametrize("name", [
    "checkpoint", "leaseCounter", "throughputKBps", "leaseOwner",
])  # fmt: skip
def test_a_row_that_moves_meanwhile_is_not_written_over(path: Path, name: str) -> None:
    """What the fix wrote guards the way back, and so does what the consumer changes by itself."""
    medium = fixed(plan_of([1]), path)
    (step,) = steps_back(path, medium)
    (write,) = step.writes
    changed_row(medium, write.key, **{name: {"N": "99"}})
    moved = medium.get([write.key])
    assert medium.write(step, "undo") is WriteResult.CONFLICT
    assert medium.get([write.key]) == moved


def test_a_row_counts_on_and_one_made_again_has_no_owner(path: Path) -> None:
    """A worker that still holds the old image must not renew it: KCL renews on an equal counter
    (KCL 3.5.1 DynamoDBLeaseRefresher)."""
    medium = fixed(plan_of([3]), path)
    undone(path, medium)
    row = medium.rows[lease(2).key]
    assert counters(medium.read())[lease(0).key] == 15 + 1 + 1
    assert row.attributes["leaseCounter"] == {"N": "16"}
    assert "leaseOwner" not in row.attributes


def test_a_mistyped_attribute_comes_back_mistyped(path: Path) -> None:
    broken = lease(0, checkpointSubSequenceNumber={"S": "three"}, childShardIds={"S": "none"})
    plan = Plan((broken,), (Step("s", (ended(broken),)),), "mistyped")
    medium = fixed(plan, path)
    undone(path, medium)
    assert settled(medium.read()) == settled([broken])


def test_a_counter_that_the_fix_wrote_first_stays(path: Path) -> None:
    bare = Image("a", {"leaseKey": {"S": "a"}, "checkpoint": {"S": "LATEST"}})
    put = Update({"leaseCounter": {"N": "0"}, "checkpoint": {"S": "TRIM_HORIZON"}})
    plan = Plan((bare,), (Step("s", (Write("a", put, bare, "no counter", ("checkpoint",)),)),), "c")
    medium = fixed(plan, path)
    undone(path, medium)
    (row,) = medium.read()
    assert row.attributes["leaseCounter"] == {"N": "1"}
    assert row.attributes["checkpoint"] == {"S": "LATEST"}


def test_an_eviction_alone_leaves_nothing_to_take_back(path: Path) -> None:
    evict = Write(lease(0).key, Update({}, ("leaseOwner",), {"leaseCounter": 1}), lease(0), "e")
    plan = Plan((lease(0),), (Step("s", (evict,)),), "evict")
    assert steps_back(path, fixed(plan, path)) == []


def test_what_the_consumer_moves_by_itself_stays_as_it_moved_it(path: Path) -> None:
    medium = fixed(plan_of([1]), path)
    moved = {"leaseCounter": {"N": "80"}, "leaseOwner": {"S": "w7"}}
    moved |= {"ownerSwitchesSinceCheckpoint": {"N": "1"}, "throughputKBps": {"N": "9"}}
    changed_row(medium, lease(0).key, **moved)
    undone(path, medium)
    wanted = moved | {"leaseCounter": {"N": "81"}, "checkpoint": {"S": FIRST}}
    assert wanted.items() <= medium.rows[lease(0).key].attributes.items()


REFUSALS = [
    (0, {"checkpoint": {"S": "TRIM_HORIZON"}}, "checkpoint", 3),
    (0, {"unknown": {"S": "new"}}, "unknown", 3),
    (0, {"ours": None}, "ours", 3),
    (0, {"checkpointSubSequenceNumber": {"S": "0"}}, "checkpointSubSequenceNumber", 3),
    (0, {"leaseCounter": {"N": "2"}}, "leaseCounter", 3),
    (1, {"checkpoint": {"S": FIRST}}, "checkpoint", 3),
    (1, {"childShardIds": {"SS": ["x"]}}, "childShardIds", 3),
    (0, {"checkpoint": {"S": "LATEST"}}, "checkpoint", 0),  # a step of unknown fate
]
"""Number of a row, what moved in it, what is named, and how many steps were written."""


@pytest.mark.parametrize(("number", "moved", "words", "count"), REFUSALS)
def test_one_row_that_moved_refuses_it_all(path, number, moved, words, count):
    medium = fixed(plan_of([1, 1, 1]), path, count)
    key = f"shardId-{number:012}"
    changed_row(medium, key, **moved)
    rows = medium.read()
    with pytest.raises(UndoRefused, match=f"nothing was undone: {key}: {words}") as caught:
        steps_back(path, medium)
    assert "reshardctl fix" in caught.value.next
    assert medium.read() == rows
    assert read(path).undo is None


def test_rows_that_somebody_has_put_back_leave_nothing_to_undo(path: Path) -> None:
    """A backup, or a second undo at the same time."""
    plan = plan_of([2, 1])
    fixed(plan, path)
    rows = {row.key: row for row in plan.rows}
    with pytest.raises(UsageError, match="every row is as before the fix"):
        undo_steps(read(path), rows, RESTORE, MOVING)


def test_a_row_that_is_gone_or_back_refuses(path: Path) -> None:
    plan = plan_of([3])
    medium = fixed(plan, path)
    medium.pull(lease(0).key)
    medium.plant(lease(2))
    with pytest.raises(UndoRefused, match="000: is gone; shardId-000000000002: exists again"):
        steps_back(path, medium)


@pytest.mark.parametrize(("counter", "taken"), [
    ("leaseCounter", True), ("ownerSwitchesSinceCheckpoint", False), ("madeUp", False),
])  # fmt: skip
def test_a_begun_undo_counts_up_nothing_but_counters(path, counter, taken):
    """A journal may come from elsewhere."""
    medium = fixed(plan_of([1]), path)
    (row,) = [image for image in medium.read() if image.key == lease(0).key]
    journal, _ = Journal.open(path)
    with journal:
        forged = Step("undo", (Write(row.key, Update({}, (), {counter: 5}), row, "x", ()),))
        journal.begin_undo([forged])
        journal.intend([(0, forged)])
    if taken:
        require_restoring(read(path), RESTORE)
        return
    with pytest.raises(UsageError, match=f"would write {row.key} as it was not before"):
        require_restoring(read(path), RESTORE)


class Spoiled(MemoryStore):
    """Rows in one text that another program has spoiled; or it mends it in the last moment."""

    mended = False

    def texts(self, _keys: Collection[str]) -> dict[str, str]:
        return {"text": "whole"}

    def unreadable(self, _keys: Collection[str]) -> dict[str, str]:
        return {"text": "not UTF-8"}

    def text_rows(self, _name: str, _text: str) -> list[Image]:
        return list(plan_of([1]).rows)

    def restore(self, _name: str, _text: str) -> WriteResult:
        return WriteResult.CONFLICT if self.mended else WriteResult.APPLIED


@pytest.mark.parametrize("kept", [False, True], ids=["not in the journal", "in the journal"])
def test_a_spoiled_text_needs_its_whole_content_in_the_journal(path: Path, kept: bool) -> None:
    """Journals of a store that kept no texts have none: of 0.1, or of a fix of other rows."""
    plan = plan_of([1])
    medium = Spoiled(plan.rows)
    with journal_of(plan, medium, path) as journal:
        if kept:
            journal.keep(medium.texts(()))
        journal.intend(enumerate(plan.steps))
    if kept:
        assert unreadable(medium, read(path), "J", wanted=True) == {"text": "not UTF-8"}
        return
    with pytest.raises(UndoRefused, match="does not hold its whole content") as caught:
        unreadable(medium, read(path), "J", wanted=True)
    assert "backup" in caught.value.next


def test_a_text_that_is_mended_meanwhile_is_not_restored(path: Path) -> None:
    plan = plan_of([1])
    medium = Spoiled(plan.rows)
    medium.mended = True
    with journal_of(plan, medium, path) as journal:
        journal.keep(medium.texts(()))
        journal.intend(enumerate(plan.steps))
    journal, records = Journal.open(path)
    whole = Whole.of(medium, records, medium.unreadable(()))
    with journal, pytest.raises(HalfDone, match="another process wrote the file meanwhile"):
        whole.put_back(journal, records, [])


def test_a_fix_is_undone_once(path: Path) -> None:
    medium = fixed(plan_of([1]), path)
    undone(path, medium)
    with pytest.raises(UsageError, match="is undone already"):
        steps_back(path, medium)


def test_an_undo_that_was_begun_is_gone_on_with(path: Path) -> None:
    plan = plan_of([1, 2])
    medium = fixed(plan, path)
    steps = steps_back(path, medium)
    journal, _ = Journal.open(path)
    with journal:
        journal.begin_undo(steps)
        first, *_ = journal.intend(enumerate(steps))
        medium.write(first.step, first.token)
    with pytest.raises(UsageError, match="has an undo that was begun"):
        steps_back(path, medium)
    journal, records = Journal.open(path)
    with journal:
        assert journal.undoing
        done = resume(journal, records, medium, volatile_attributes=MOVING)
    assert (done.written, done.recognised) == (1, 1)
    assert settled(medium.read()) == settled(list(plan.rows))


def test_what_was_never_intended_may_have_moved(path: Path) -> None:
    medium = MemoryStore(plan_of([1]).rows)
    journal_of(plan_of([1]), medium, path).close()
    assert steps_back(path, medium) == []
    changed_row(medium, lease(0).key, checkpoint={"S": "LATEST"})
    assert steps_back(path, medium) == []


def test_a_resumed_fix_is_taken_back_whole(path: Path) -> None:
    plan = plan_of([1, 1, 1])
    medium = fixed(plan, path, 1)
    for image in medium.read():
        changed_row(medium, image.key, leaseCounter={"N": "50"})
    journal, records = Journal.open(path)
    with journal:
        resume(journal, records, medium, volatile_attributes=MOVING)
    undone(path, medium)
    assert settled(medium.read()) == settled(list(plan.rows))


def test_a_row_behind_one_that_was_not_written_is_not_the_fixs(path: Path) -> None:
    """Steps are written in their order; just behind the last record, nobody knows."""
    plan = plan_of([1, 1, 1])
    medium = fixed(plan, path, 1)
    middle, last = (step.writes[0].key for step in plan.steps[1:])
    medium.plant(Image(last, {"checkpoint": {"S": "LATEST"}}))
    assert [step.title for step in steps_back(path, medium)] == ["undo: step 0"]
    medium.plant(Image(middle, {"checkpoint": {"S": "LATEST"}}))
    with pytest.raises(UndoRefused, match=f"nothing was undone: {middle}"):
        steps_back(path, medium)


def test_a_row_behind_one_that_was_written_may_be_the_fixs(path: Path) -> None:
    """The middle step was written without its record."""
    plan = plan_of([1, 1, 1])
    medium = fixed(plan, path, 1)
    (step,) = rebase(plan.steps[1:2], medium.read(), MOVING)
    medium.write(step, "t")
    last = plan.steps[2].writes[0].key
    medium.plant(Image(last, {"checkpoint": {"S": "LATEST"}}))
    with pytest.raises(UndoRefused, match=f"nothing was undone: {last}"):
        steps_back(path, medium)
