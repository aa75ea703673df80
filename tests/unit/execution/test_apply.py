"""Apply and resume: everything or a clear stop, with the right way on."""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Callable, Sequence
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
from reshardctl.execution.apply import Applied, Rest, belongs
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


class Watched(Failing):
    """A medium before whose writes something is looked at, or done."""

    def __init__(self, medium: MemoryStore, look: Callable[[Step, str], Any]) -> None:
        super().__init__(medium, -1, WriteResult.APPLIED)
        self._look = look

    def write(self, step: Step, token: str) -> WriteResult:
        self._look(step, token)
        return super().write(step, token)


@pytest.fixture
def begin(plan: Plan, medium: MemoryStore, path: Path) -> Callable[..., Applied]:
    """A fix of `plan`, as a use case does it: of `medium`, or of a store around it."""

    def run(store: Any = None, check: Any = None, **options: Any) -> Applied:
        with journal_of(plan, medium, path) as journal:
            done = check or checked(plan)
            return apply(plan.steps, store or medium, journal, check=done, **options)

    return run


def refuse(*_: Any) -> Any:
    raise StalePlan("the proof does not hold")


def full_disk(*_: Any) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# all of it


@pytest.mark.parametrize("plan", [
    *map(plan_of, ([1], [3], [1, 1], [2, 3, 1])), twice(), Plan((lease(0),), (), "none"),
], ids=lambda plan: plan.name)  # fmt: skip
def test_everything_is_written_and_recorded(plan, medium, path, begin):
    done = begin()
    assert medium.read() == plan.after()
    assert (done.written, done.recognised) == (len(plan.steps), 0)
    assert read(path).fix.applied == set(range(len(plan.steps)))


def test_the_intents_carry_the_rows_as_they_are_now(plan, medium, path, begin):
    changed_row(medium, plan.steps[0].writes[0].key, leaseCounter={"N": "40"})
    begin()
    before = read(path).fix.intents[0].step.writes[0].before
    assert before is not None and before.attributes["leaseCounter"] == {"N": "40"}
    assert read(path).header.steps == plan.steps


def test_each_step_is_in_the_journal_before_it_is_written(plan, medium, path, begin):
    seen = []

    def look(step: Step, token: str) -> None:
        intents = read(path).fix.intents.values()
        seen.append(any(i.step == step and i.token == token for i in intents))

    begin(Watched(medium, look))
    assert seen == [True] * len(plan.steps)


# before the first write


def interrupted(*_: Any) -> bool:
    return True


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"check": refuse}, StalePlan, "the proof does not hold"),
    ({"check": lambda _: [Step("x", (ended(lease(90)),)), *plan_of([1, 2, 1]).steps[1:]]},
     StalePlan, "other rows"),
    ({"interrupted": interrupted}, Cancelled, "nothing was written"),
], ids=["check refuses", "check brings other rows", "interrupted"])  # fmt: skip
def test_nothing_is_begun(plan, medium, path, begin, options, error, words):
    with pytest.raises(error, match=words) as caught:
        begin(**options)
    assert caught.value.exit == (130 if error is Cancelled else Exit.REFUSED)
    assert medium.read() == list(plan.rows)
    assert read(path).count == 1, "the header: no step was even intended"


def test_check_sees_the_rows_as_they_are(plan, begin):
    seen: list[list[Image]] = []

    def check(rows: list[Image]) -> list[Step]:
        seen.append(rows)
        return list(plan.steps)

    begin(check=check)
    assert seen == [sorted(plan.rows, key=lambda image: image.key)]


def test_a_step_too_large_is_found_before_any_is_written(plan, medium, begin):
    medium.max_writes = 1
    with pytest.raises(ValueError, match="more writes"):
        begin()
    assert medium.read() == list(plan.rows)


@pytest.mark.parametrize("failure", [CannotTell("throttled"), Refused("no permission")])
def test_a_failure_of_the_first_write_is_what_it_is(plan, medium, path, begin, failure):
    with pytest.raises(type(failure)):
        begin(Failing(medium, 0, failure))
    assert medium.read() == list(plan.rows)
    assert (read(path).fix.outcome, read(path).fix.why) == ("failed", str(failure))


def test_a_row_that_moves_under_the_first_write_makes_the_plan_stale(plan, medium, begin):
    def check(rows: list[Image]) -> list[Step]:
        changed_row(medium, plan.steps[0].writes[0].key, leaseCounter={"N": "16"})
        return rebase(plan.steps, rows, MOVING)

    with pytest.raises(StalePlan) as caught:
        begin(check=check)
    assert caught.value.exit == Exit.REFUSED
    assert "shardId-000000000000" in caught.value.what and "nothing was written" in str(caught)


# after the first write


@pytest.fixture
def stopped(begin: Callable[..., Applied], path: Path) -> Callable[..., HalfDone]:
    """A fix that stops half done, and says what every such stop must say."""

    def run(store: Any, **options: Any) -> HalfDone:
        with pytest.raises(HalfDone) as caught:
            begin(store, **options)
        assert caught.value.exit == Exit.HALF_DONE
        assert caught.value.journal == str(path)
        assert f"reshardctl fix --resume '{path}'" in caught.value.next
        assert f"reshardctl undo '{path}'" in caught.value.next
        return caught.value

    return run


UNKNOWN = (AnswerLost("no answer"), KeyboardInterrupt(), SystemExit(1), RuntimeError("bug"))
LATER = (CannotTell("throttled"), Refused("no permission"), UsageError("no table"))


@pytest.mark.parametrize(("failure", "at", "words"), [
    (WriteResult.CONFLICT, 1, "a row changed"), *((failure, 2, str(failure)) for failure in LATER),
    *((failure, at, "") for failure in UNKNOWN for at in range(3)),
], ids=repr)  # fmt: skip
def test_a_write_that_fails_or_has_an_unknown_fate_leaves_it_half_done(
    plan, medium, path, stopped, failure, at, words
):
    error = stopped(Failing(medium, at, failure))
    assert f"{at} of 3 steps are in place" in error.what and words in error.what
    assert medium.read() == plan.after(at)
    assert read(path).fix.applied == set(range(at)) and read(path).fix.outcome == "failed"


@pytest.mark.parametrize("at", [1, 2])
def test_interrupted_later_the_current_step_is_finished(plan, medium, path, stopped, at):
    writes: list[Step] = []

    def asked() -> bool:
        return read(path).fix.applied == set(range(at))

    error = stopped(Watched(medium, lambda step, _: writes.append(step)), interrupted=asked)
    assert "interrupted" in error.what
    assert medium.read() == plan.after(at)
    assert len(writes) == at


def test_a_disk_that_fills_up_after_a_write_leaves_it_half_done(
    plan, medium, path, stopped, monkeypatch
):
    error = stopped(Watched(medium, lambda *_: monkeypatch.setattr(os, "write", full_disk)))
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
    plan, medium, path, begin, stopped, at, failure
):
    moving = Moving(medium, at, failure)
    if at:
        error: ReshardError = stopped(moving, renewing=MOVING)
        assert "1 of 3 steps are in place" in error.what
    else:
        with pytest.raises(type(failure)) as caught:
            begin(moving, renewing=MOVING)
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


def test_a_finished_fix_is_recognised(plan, medium, path, begin):
    begin()
    assert resumed(plan, medium, path) == (0, 3)
    assert medium.read() == plan.after()


def test_a_journal_without_intents_is_begun(plan, medium, path):
    journal_of(plan, medium, path).close()
    assert resumed(plan, medium, path) == (3, 0)
    assert medium.read() == plan.after()


def half(plan: Plan, medium: MemoryStore, path: Path, mode: str = "never sent") -> None:
    with journal_of(plan, medium, path) as journal, pytest.raises(HalfDone):
        apply(plan.steps, Crashing(medium, 1, mode), journal, check=checked(plan))


def test_check_sees_what_is_left_on_fresh_rows(plan, medium, path):
    half(plan, medium, path)
    seen: list[Any] = []

    def check(rest: Rest) -> None:
        seen.extend((list(rest.rows), [write.key for write in writes_of(rest.steps)]))

    resumed(plan, medium, path, check)
    assert seen[0] == plan.after(1)
    assert seen[1] == [write.key for step in plan.steps[1:] for write in step.writes]


def test_check_may_refuse_to_go_on(plan, medium, path):
    half(plan, medium, path)
    with pytest.raises(StalePlan, match="proof"):
        resumed(plan, medium, path, refuse)
    assert medium.read() == plan.after(1)


def test_a_lost_answer_that_landed_is_recognised_and_recorded(plan, medium, path):
    half(plan, medium, path, mode="answer lost")
    assert read(path).fix.applied == {0}
    assert resumed(plan, medium, path) == (1, 2)
    assert read(path).fix.applied == {0, 1, 2}
    assert medium.read() == plan.after()


@pytest.mark.parametrize("begun", [True, False])
def test_a_row_that_someone_moved_is_named_and_nothing_is_written(plan, medium, path, begun):
    if begun:
        half(plan, medium, path)
    else:
        journal_of(plan, medium, path).close()
    key = plan.steps[2 if begun else 0].writes[0].key
    changed_row(medium, key, checkpoint={"S": "LATEST"})
    rows = medium.read()
    error = HalfDone if begun else StalePlan
    words = f"row {key} is neither as before the fix nor as written"
    with pytest.raises(error, match=words if begun else f"{words}.*nothing was written"):
        resumed(plan, medium, path)
    assert medium.read() == rows


def test_a_consumer_that_renewed_meanwhile_is_no_obstacle(plan, medium, path):
    half(plan, medium, path)
    for image in medium.read():
        changed_row(medium, image.key, leaseCounter={"N": "90"}, leaseOwner={"S": "w9"})
    assert resumed(plan, medium, path) == (2, 1)


def test_a_row_that_moves_while_going_on_is_half_done(plan, medium, path):
    half(plan, medium, path)
    with pytest.raises(HalfDone, match="1 of 3 steps are in place"):
        resumed(plan, Failing(medium, 0, WriteResult.CONFLICT), path)


def test_a_journal_that_takes_nothing_more_stops_going_on(plan, medium, path, monkeypatch):
    half(plan, medium, path)
    monkeypatch.setattr(os, "write", full_disk)
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
def test_the_journal_of_another_table_is_refused(plan, medium, path, name):
    journal_of(plan, medium, path).close()
    other = MemoryStore(plan.rows, identity={**medium.identity(), name: "another"})
    with pytest.raises(UsageError, match=f"about another store: {name} was"):
        resumed(plan, other, path)
    assert other.read() == list(plan.rows)


def test_the_journal_of_another_directory_is_refused_where_the_fix_gave_an_id(plan, medium, path):
    """It gives the id of a query to a directory that was empty: the path stays as it was."""
    journal_of(plan, medium, path).close()
    given = {"an id": plan.steps[0].writes[0].key}
    same = MemoryStore(plan.rows, identity={**medium.identity(), "an id": "7"})
    belongs(read(path), same, given)
    other = MemoryStore(plan.rows, identity={**same.identity(), "path": "/elsewhere", "arn": "x"})
    with pytest.raises(UsageError, match="about another store: arn was"):
        belongs(read(path), other, given)


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


@pytest.mark.parametrize(("rows", "words"), [
    ([], "shardId-000000000000 has vanished"),
    ([lease(0), lease(1)], "shardId-000000000001 has appeared"),
    ([lease(0, checkpoint={"S": "LATEST"})], "000000000000: checkpoint has changed"),
    ([lease(0, childShardIds={"SS": ["x"]})], "000000000000: childShardIds has changed"),
    ([lease(0, checkpoint={"N": "1"})], "000000000000: checkpoint has changed"),
], ids=["gone", "there already", "a value", "a new attribute", "a type"])  # fmt: skip
def test_rebasing_refuses_what_a_guard_forbids(rows: list[Image], words: str) -> None:
    with pytest.raises(StalePlan, match=words):
        rebase(plan_of([2]).steps, rows, MOVING)


# steps that wait for the consumer


@pytest.fixture
def waiting() -> Plan:
    """The plan, its second step behind a row that the consumer writes."""
    plan = plan_of([1, 2, 1])
    first, second, *rest = plan.steps
    return dataclasses.replace(plan, steps=(first, replace(second, barrier="commits/8"), *rest))


def test_a_step_behind_a_barrier_waits_and_resume_makes_it(waiting, medium, path):
    words = r"1 of 3 steps.*waits until commits/8 exists"
    with journal_of(waiting, medium, path) as journal, pytest.raises(HalfDone, match=words) as half:
        apply(waiting.steps, medium, journal, check=checked(waiting))
    assert half.value.exit is Exit.HALF_DONE and "fix --resume" in half.value.next
    written = medium.read()
    for _ in range(2):
        with pytest.raises(HalfDone, match="waits until commits/8"):
            resumed(waiting, medium, path)
        assert medium.read() == written, "nothing more is written while it waits"
    medium.plant(Image("commits/8", {}))
    assert resumed(waiting, medium, path) == (2, 1)
    assert [i for i in medium.read() if i.key != "commits/8"] == waiting.after()


@pytest.mark.parametrize(
    "failure", [CannotTell("the network is down"), UsageError("there is no directory")], ids=str
)
def test_a_barrier_that_cannot_be_looked_at_is_no_way_through(waiting, medium, path, failure):
    store = Moving(medium, -1, failure)
    with journal_of(waiting, medium, path) as journal, pytest.raises(HalfDone) as caught:
        apply(waiting.steps, store, journal, check=checked(waiting))
    said = caught.value.what
    assert "1 of 3 steps are in place" in said and failure.args[0] in said
    assert medium.read() == waiting.after(1)
