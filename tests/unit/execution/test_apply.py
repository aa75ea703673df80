"""Apply and resume: everything or a clear stop, with the right way on."""

from __future__ import annotations

import dataclasses
import errno
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.errors import (
    AnswerLost,
    Cancelled,
    CannotTell,
    HalfDone,
    Refused,
    ReshardError,
    StalePlan,
    UsageError,
)
from reshardctl.execution.apply import Rest
from reshardctl.exit import Exit
from reshardctl.journal import Journal, read
from reshardctl.model import Image, Step, writes_of
from reshardctl.model.write_state import WriteResult
from reshardctl.planning.writes import rebase
from tests.contracts.memory_store import MemoryStore
from tests.support.plans import (
    MOVING,
    CheckRest,
    Crashing,
    Plan,
    apply,
    checked,
    ended,
    header,
    journal_of,
    lease,
    plan_of,
    resume,
    twice,
)


@pytest.fixture
def plan() -> Plan:
    return plan_of([1, 2, 1])


@pytest.fixture
def medium(plan: Plan) -> MemoryStore:
    return MemoryStore(plan.rows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a journal.jsonl"


def changed_row(medium: MemoryStore, key: str, **attributes: dict[str, Any]) -> None:
    row = medium.get([key])[key]
    assert row is not None
    medium.plant(Image(key, {**row.attributes, **attributes}))


class Failing:
    """A medium whose n-th write raises, or says that a row moved."""

    max_writes = 100

    def __init__(self, medium: MemoryStore, at: int, failure: BaseException | WriteResult) -> None:
        self._medium, self._left, self._failure = medium, at, failure
        self.identity, self.read, self.get = medium.identity, medium.read, medium.get

    def write(self, step: Step, token: str) -> WriteResult:
        self._left -= 1
        if self._left == -1:
            if isinstance(self._failure, WriteResult):
                return self._failure
            raise self._failure
        return self._medium.write(step, token)


# all of it


@pytest.mark.parametrize("sizes", [[1], [3], [1, 1], [2, 3, 1]])
def test_everything_is_written_and_recorded(sizes: list[int], path: Path) -> None:
    plan = plan_of(sizes)
    medium = MemoryStore(plan.rows)
    with journal_of(plan, medium, path) as journal:
        done = apply(plan.steps, medium, journal, check=checked(plan))
    assert medium.read() == plan.after()
    assert (done.written, done.recognised) == (len(sizes), 0)
    assert read(path).fix.applied == set(range(len(sizes)))


def test_a_row_may_be_written_by_several_steps(path: Path) -> None:
    plan = twice()
    medium = MemoryStore(plan.rows)
    with journal_of(plan, medium, path) as journal:
        apply(plan.steps, medium, journal, check=checked(plan))
    assert medium.read() == plan.after()


def test_no_steps_are_no_writes(path: Path) -> None:
    plan = Plan((lease(0),), (), "none")
    medium = MemoryStore(plan.rows)
    with journal_of(plan, medium, path) as journal:
        assert apply((), medium, journal, check=checked(plan)).written == 0


def test_the_intents_carry_the_rows_as_they_are_now(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    key = plan.steps[0].writes[0].key
    changed_row(medium, key, leaseCounter={"N": "40"})
    with journal_of(plan, medium, path) as journal:
        apply(plan.steps, medium, journal, check=checked(plan))
    before = read(path).fix.intents[0].step.writes[0].before
    assert before is not None and before.attributes["leaseCounter"] == {"N": "40"}
    assert read(path).header.steps == plan.steps


def test_each_step_is_in_the_journal_before_it_is_written(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    seen = []

    class Watching(Failing):
        def write(self, step: Step, token: str) -> WriteResult:
            intents = read(path).fix.intents.values()
            seen.append(any(i.step == step and i.token == token for i in intents))
            return medium.write(step, token)

    with journal_of(plan, medium, path) as journal:
        apply(plan.steps, Watching(medium, -1, WriteResult.APPLIED), journal, check=checked(plan))
    assert seen == [True] * len(plan.steps)


# before the first write


def test_check_speaks_before_anything_is_written(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    def no(_rows: list[Image]) -> list[Step]:
        raise StalePlan("the proof does not hold")

    with journal_of(plan, medium, path) as journal, pytest.raises(StalePlan, match="proof"):
        apply(plan.steps, medium, journal, check=no)
    assert medium.read() == list(plan.rows)
    assert read(path).count == 1


def test_check_sees_the_rows_as_they_are(plan: Plan, medium: MemoryStore, path: Path) -> None:
    seen: list[list[Image]] = []

    def check(rows: list[Image]) -> list[Step]:
        seen.append(rows)
        return list(plan.steps)

    with journal_of(plan, medium, path) as journal:
        apply(plan.steps, medium, journal, check=check)
    assert seen == [sorted(plan.rows, key=lambda image: image.key)]


def test_check_may_not_bring_other_rows(plan: Plan, medium: MemoryStore, path: Path) -> None:
    other = [replace(plan.steps[0], writes=(ended(lease(90)),)), *plan.steps[1:]]
    with journal_of(plan, medium, path) as journal, pytest.raises(StalePlan, match="other rows"):
        apply(plan.steps, medium, journal, check=lambda _: other)
    assert medium.read() == list(plan.rows)


def test_interrupted_before_the_first_write_is_cancelled(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    with journal_of(plan, medium, path) as journal, pytest.raises(Cancelled) as caught:
        apply(plan.steps, medium, journal, check=checked(plan), interrupted=lambda: True)
    assert caught.value.exit == Exit.CANCELLED == 130
    assert medium.read() == list(plan.rows)
    assert read(path).count == 1  # the header: no step was even intended


def test_a_step_too_large_is_found_before_any_is_written(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    medium.max_writes = 1
    with journal_of(plan, medium, path) as journal, pytest.raises(ValueError, match="more writes"):
        apply(plan.steps, medium, journal, check=checked(plan))
    assert medium.read() == list(plan.rows)


@pytest.mark.parametrize("failure", [CannotTell("throttled"), Refused("no permission")])
def test_a_failure_of_the_first_write_is_what_it_is(
    plan: Plan, medium: MemoryStore, path: Path, failure: Exception
) -> None:
    with journal_of(plan, medium, path) as journal, pytest.raises(type(failure)):
        apply(plan.steps, Failing(medium, 0, failure), journal, check=checked(plan))
    assert medium.read() == list(plan.rows)
    assert (read(path).fix.outcome, read(path).fix.why) == ("failed", str(failure))


def test_a_row_that_moves_under_the_first_write_makes_the_plan_stale(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    def check(rows: list[Image]) -> list[Step]:
        changed_row(medium, plan.steps[0].writes[0].key, leaseCounter={"N": "16"})
        return rebase(plan.steps, rows, MOVING)

    with journal_of(plan, medium, path) as journal, pytest.raises(StalePlan) as caught:
        apply(plan.steps, medium, journal, check=check)
    assert caught.value.exit == Exit.REFUSED
    assert "shardId-000000000000" in caught.value.what and "nothing was written" in str(caught)


# after the first write


def stopped(plan: Plan, medium: Any, path: Path, **options: Any) -> HalfDone:
    """Apply, which stops half done, and check what every such stop must say."""
    with journal_of(plan, medium, path) as journal, pytest.raises(HalfDone) as caught:
        apply(plan.steps, medium, journal, check=checked(plan), **options)
    assert caught.value.exit == Exit.HALF_DONE
    assert caught.value.journal == str(path)
    assert f"reshardctl fix --resume '{path}'" in caught.value.next
    assert f"reshardctl undo '{path}'" in caught.value.next
    return caught.value


def test_a_row_that_moves_later_leaves_it_half_done(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    error = stopped(plan, Failing(medium, 1, WriteResult.CONFLICT), path)
    assert "1 of 3 steps are in place" in error.what and "a row changed" in error.what
    assert medium.read() == plan.after(1)
    assert read(path).fix.applied == {0}


@pytest.mark.parametrize(
    "failure", [CannotTell("throttled"), Refused("no permission"), UsageError("no table")]
)
def test_a_failure_later_leaves_it_half_done(
    plan: Plan, medium: MemoryStore, path: Path, failure: Exception
) -> None:
    error = stopped(plan, Failing(medium, 2, failure), path)
    assert "2 of 3 steps are in place" in error.what and str(failure) in error.what
    assert read(path).fix.outcome == "failed"


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize(
    "failure", [AnswerLost("no answer"), KeyboardInterrupt(), SystemExit(1), RuntimeError("bug")]
)
def test_a_write_of_unknown_fate_leaves_it_half_done(
    plan: Plan, medium: MemoryStore, path: Path, failure: BaseException, at: int
) -> None:
    error = stopped(plan, Failing(medium, at, failure), path)
    assert f"{at} of 3 steps are in place" in error.what


@pytest.mark.parametrize("at", [1, 2])
def test_interrupted_later_the_current_step_is_finished(
    plan: Plan, medium: MemoryStore, path: Path, at: int
) -> None:
    writes = itertools.count()

    class Counting(Failing):
        def write(self, step: Step, token: str) -> WriteResult:
            next(writes)
            return medium.write(step, token)

    def asked() -> bool:
        return read(path).fix.applied == set(range(at))

    error = stopped(plan, Counting(medium, -1, WriteResult.APPLIED), path, interrupted=asked)
    assert "interrupted" in error.what
    assert medium.read() == plan.after(at)
    assert next(writes) == at


def test_a_disk_that_fills_up_after_a_write_leaves_it_half_done(
    plan: Plan, medium: MemoryStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class Filling(Failing):
        def write(self, step: Step, token: str) -> WriteResult:
            monkeypatch.setattr(os, "write", full)
            return medium.write(step, token)

    error = stopped(plan, Filling(medium, -1, WriteResult.APPLIED), path)
    assert "1 of 3 steps are in place" in error.what and "No space left" in error.what
    monkeypatch.undo()
    assert resumed(plan, medium, path) == (2, 1)
    assert medium.read() == plan.after()


# while a consumer runs


class Moving(Failing):
    """A medium whose n-th write finds its rows renewed, and whose rows cannot be read then."""

    def __init__(self, medium: MemoryStore, at: int, failure: ReshardError) -> None:
        super().__init__(medium, at, WriteResult.CONFLICT)
        self._why = failure
        self.get = self._unread

    def _unread(self, keys: Sequence[str]) -> dict[str, Image | None]:  # noqa: ARG002
        raise self._why


@pytest.mark.parametrize(
    "failure", [CannotTell("throttled"), UsageError("there is no table")], ids=str
)
@pytest.mark.parametrize("at", [0, 1])
def test_rows_that_cannot_be_read_again_end_a_live_fix(
    plan: Plan, medium: MemoryStore, path: Path, at: int, failure: ReshardError
) -> None:
    moving = Moving(medium, at, failure)
    if at:
        error: ReshardError = stopped(plan, moving, path, renewing=MOVING)
        assert "1 of 3 steps are in place" in error.what
    else:
        with journal_of(plan, medium, path) as journal, pytest.raises(type(failure)) as caught:
            apply(plan.steps, moving, journal, check=checked(plan), renewing=MOVING)
        error = caught.value
        assert "nothing was written" in error.what
    assert failure.args[0] in error.what
    assert medium.read() == plan.after(at) and read(path).fix.outcome == "failed"


# going on


def resumed(
    plan: Plan, medium: Any, path: Path, check: CheckRest = lambda _: None
) -> tuple[int, int]:
    """Resume to the end: how many steps were written, how many recognised."""
    journal, records = Journal.open(path)
    with journal:
        done = resume(journal, records, medium, check=check, volatile_attributes=MOVING)
    assert len(done.steps) == done.written
    assert done.written + done.recognised == len(plan.steps)
    return done.written, done.recognised


def test_a_finished_fix_is_recognised(plan: Plan, medium: MemoryStore, path: Path) -> None:
    with journal_of(plan, medium, path) as journal:
        apply(plan.steps, medium, journal, check=checked(plan))
    assert resumed(plan, medium, path) == (0, 3)
    assert medium.read() == plan.after()


def test_a_journal_without_intents_is_begun(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    journal_of(plan, medium, path).close()
    assert resumed(plan, medium, path) == (3, 0)
    assert medium.read() == plan.after()


def half(plan: Plan, medium: MemoryStore, path: Path, mode: str = "never sent") -> None:
    with journal_of(plan, medium, path) as journal, pytest.raises(HalfDone):
        apply(plan.steps, Crashing(medium, 1, mode), journal, check=checked(plan))


def test_check_sees_what_is_left_on_fresh_rows(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    half(plan, medium, path)
    seen: list[Any] = []

    def check(rest: Rest) -> None:
        seen.extend((list(rest.rows), [write.key for write in writes_of(rest.steps)]))

    resumed(plan, medium, path, check)
    assert seen[0] == plan.after(1)
    assert seen[1] == [write.key for step in plan.steps[1:] for write in step.writes]


def test_check_may_refuse_to_go_on(plan: Plan, medium: MemoryStore, path: Path) -> None:
    half(plan, medium, path)

    def no(_rest: Rest) -> None:
        raise StalePlan("the proof does not hold")

    with pytest.raises(StalePlan, match="proof"):
        resumed(plan, medium, path, no)
    assert medium.read() == plan.after(1)


def test_a_lost_answer_that_landed_is_recognised_and_recorded(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    half(plan, medium, path, mode="answer lost")
    assert read(path).fix.applied == {0}
    assert resumed(plan, medium, path) == (1, 2)
    assert read(path).fix.applied == {0, 1, 2}
    assert medium.read() == plan.after()


def test_a_row_that_someone_moved_is_named_and_nothing_is_written(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    half(plan, medium, path)
    key = plan.steps[2].writes[0].key
    changed_row(medium, key, checkpoint={"S": "LATEST"})
    rows = medium.read()
    with pytest.raises(HalfDone, match=f"row {key} is neither as before the fix nor as written"):
        resumed(plan, medium, path)
    assert medium.read() == rows


def test_a_row_that_moved_before_any_intent_makes_the_plan_stale(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    journal_of(plan, medium, path).close()
    changed_row(medium, plan.steps[0].writes[0].key, checkpoint={"S": "LATEST"})
    with pytest.raises(StalePlan, match="nothing was written"):
        resumed(plan, medium, path)


def test_a_consumer_that_renewed_meanwhile_is_no_obstacle(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    half(plan, medium, path)
    for image in medium.read():
        changed_row(medium, image.key, leaseCounter={"N": "90"}, leaseOwner={"S": "w9"})
    assert resumed(plan, medium, path) == (2, 1)


def test_a_row_that_moves_while_going_on_is_half_done(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    half(plan, medium, path)
    with pytest.raises(HalfDone, match="1 of 3 steps are in place"):
        resumed(plan, Failing(medium, 0, WriteResult.CONFLICT), path)


def test_a_journal_that_takes_nothing_more_stops_going_on(
    plan: Plan, medium: MemoryStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half(plan, medium, path)

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(HalfDone, match=r"1 of 3 steps are in place.*No space left"):
        resumed(plan, medium, path)
    assert medium.read() == plan.after(1)


def test_a_step_that_landed_in_part_is_finished(path: Path) -> None:
    """A medium without transactions may stop between two writes of one step."""
    plan = plan_of([3])
    medium = MemoryStore(plan.rows)
    journal = journal_of(plan, medium, path)
    with journal:
        journal.intend(enumerate(plan.steps))
    medium.write(replace(plan.steps[0], writes=plan.steps[0].writes[:1]), "a part")
    assert resumed(plan, medium, path) == (1, 0)
    assert medium.read() == plan.after()
    assert len(read(path).fix.current[0].writes) == 3


@pytest.mark.parametrize("name", ["arn", "created"])
def test_the_journal_of_another_table_is_refused(
    plan: Plan, medium: MemoryStore, path: Path, name: str
) -> None:
    journal_of(plan, medium, path).close()
    other = MemoryStore(plan.rows, identity={**medium.identity(), name: "another"})
    with pytest.raises(UsageError, match=f"about another store: {name} was"):
        resumed(plan, other, path)
    assert other.read() == list(plan.rows)


# rebasing


def test_rebasing_takes_fresh_rows_and_guards_what_moves() -> None:
    plan = plan_of([1])
    fresh = Image(lease(0).key, {**lease(0).attributes, "leaseCounter": {"N": "40"}})
    ((write,),) = [step.writes for step in rebase(plan.steps, [fresh], MOVING)]
    assert write.before == fresh
    assert write.guard == ("checkpoint", "childShardIds", *sorted(MOVING))
    assert write.change == plan.steps[0].writes[0].change


def test_rebasing_leaves_the_guards_of_live_writes_alone() -> None:
    live = replace(ended(lease(0)), live=True)
    (step,) = rebase([Step("s", (live,))], [lease(0)], MOVING)
    assert step.writes[0].guard == live.guard


@pytest.mark.parametrize("count", range(4))
def test_rebasing_follows_a_row_through_its_steps(count: int) -> None:
    plan = twice()
    rest = plan.steps[count:]
    for before, step in zip(
        range(count, 3), rebase(rest, plan.after(count), MOVING), strict=True
    ):
        rows = {image.key: image for image in plan.after(before)}
        assert [write.before for write in step.writes] == [
            rows.get(write.key) for write in step.writes
        ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "shardId-000000000000 has vanished"),
        ([lease(0), lease(1)], "shardId-000000000001 has appeared"),
        ([lease(0, checkpoint={"S": "LATEST"})], "000000000000: checkpoint has changed"),
        ([lease(0, childShardIds={"SS": ["x"]})], "000000000000: childShardIds has changed"),
        ([lease(0, checkpoint={"N": "1"})], "000000000000: checkpoint has changed"),
    ],
)
def test_rebasing_refuses_what_a_guard_forbids(rows: list[Image], words: str) -> None:
    with pytest.raises(StalePlan, match=words):
        rebase(plan_of([2]).steps, rows, MOVING)


def test_a_header_may_be_written_for_any_plan(medium: MemoryStore) -> None:
    assert header(plan_of([6]), medium).steps == plan_of([6]).steps


# steps that wait for the consumer


def waiting(plan: Plan) -> Plan:
    """The same plan, its second step behind a row that the consumer writes."""
    first, second, *rest = plan.steps
    waits = replace(second, barrier="commits/8")
    return dataclasses.replace(plan, steps=(first, waits, *rest))


def test_a_step_behind_a_barrier_waits_and_resume_makes_it(
    plan: Plan, medium: MemoryStore, path: Path
) -> None:
    plan = waiting(plan)
    with (
        journal_of(plan, medium, path) as journal,
        pytest.raises(HalfDone, match=r"1 of 3 steps.*waits until commits/8 exists") as half,
    ):
        apply(plan.steps, medium, journal, check=checked(plan))
    assert half.value.exit is Exit.HALF_DONE and "fix --resume" in half.value.next
    written = medium.read()
    for _ in range(2):
        with pytest.raises(HalfDone, match="waits until commits/8"):
            resumed(plan, medium, path)
        assert medium.read() == written, "nothing more is written while it waits"
    medium.plant(Image("commits/8", {}))
    assert resumed(plan, medium, path) == (2, 1)
    assert [i for i in medium.read() if i.key != "commits/8"] == plan.after()


@pytest.mark.parametrize(
    "failure", [CannotTell("the network is down"), UsageError("there is no directory")], ids=str
)
def test_a_barrier_that_cannot_be_looked_at_is_no_way_through(
    plan: Plan, medium: MemoryStore, path: Path, failure: ReshardError
) -> None:
    plan = waiting(plan)
    error = stopped(plan, Moving(medium, -1, failure), path)
    assert "1 of 3 steps are in place" in error.what and failure.args[0] in error.what
    assert medium.read() == plan.after(1)
