"""Every call of a fix fails once, in every way: the exit is right, and so are the rows.

As SQLite's I/O error loops do ("How SQLite Is Tested"): fail call 0, then call 1, and so on until
a run passes without reaching the failing call.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reshardctl.errors import CannotTell, HalfDone, Refused, ReshardError
from reshardctl.exit import Exit
from reshardctl.journal import Journal, read
from tests.support.faults import LASTING, TRANSIENT, FaultySession
from tests.support.lease_server import LeaseTable, lease_server, session
from tests.support.plans import (
    MOVING,
    Plan,
    apply,
    checked,
    journal_of,
    plan_of,
    resume,
    twice,
)

pytestmark = pytest.mark.long

PLAN = plan_of([1, 1, 2, 1])
WRITES = {"update_item", "put_item", "delete_item", "transact_write_items"}
REFUSING = ("denied", "expired")
"""Answers to a write with which it is certain that it was not made."""


@pytest.fixture(autouse=True)
def _few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lasts lasts for three attempts as well as for eight."""
    monkeypatch.setattr("reshardctl.aws.client.ATTEMPTS", 3)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with lease_server() as url:
        yield url


@pytest.fixture(scope="module")
def calls(server: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The calls of a fix in which nothing fails."""
    faulty, table = prepared(server, PLAN)
    run(faulty, table, PLAN, tmp_path_factory.mktemp("calls") / "j.jsonl")
    return [name for name, _ in faulty.calls]


def prepared(server: str, plan: Plan) -> tuple[FaultySession, LeaseTable]:
    table = LeaseTable(server)
    for image in plan.rows:
        table.plant(image)
    return FaultySession(session()), table


def run(faulty: FaultySession, table: LeaseTable, plan: Plan, path: Path) -> None:
    medium = table.medium(faulty)
    with journal_of(plan, medium, path) as journal:
        apply(plan.steps, medium, journal, check=checked(plan))


def finish(table: LeaseTable, path: Path) -> None:
    medium = table.medium()
    journal, records = Journal.open(path)
    with journal:
        resume(journal, records, medium, volatile_attributes=MOVING)


def steps_in_place(table: LeaseTable, plan: Plan) -> int:
    """How many steps are wholly in place; fails when a step is there in part."""
    states = [plan.after(count) for count in range(len(plan.steps) + 1)]
    rows = table.medium().read()
    assert rows in states
    return states.index(rows)


def test_the_loop_reaches_every_kind_of_call(calls: list[str]) -> None:
    assert calls == [
        "describe_table", "scan", "update_item", "put_item", "transact_write_items", "put_item",
    ]


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_call_that_fails_once_is_nothing_to_speak_of(
    server: str, calls: list[str], tmp_path: Path, name: str
) -> None:
    for number in range(len(calls)):
        faulty, table = prepared(server, PLAN)
        faulty.faults[number] = TRANSIENT[name]
        run(faulty, table, PLAN, tmp_path / f"{number}.jsonl")
        assert table.medium().read() == PLAN.after(), number
        assert len(faulty.calls) > len(calls), number


@pytest.mark.parametrize("name", LASTING)
def test_a_call_that_is_refused_ends_it_rightly(
    server: str, calls: list[str], tmp_path: Path, name: str
) -> None:
    for number, operation in enumerate(calls):
        faulty, table = prepared(server, PLAN)
        faulty.faults = dict.fromkeys(range(number, 99), LASTING[name])
        path = tmp_path / f"{number}.jsonl"
        with pytest.raises(ReshardError) as caught:
            run(faulty, table, PLAN, path)
        written = sum(one in WRITES for one in calls[:number])
        assert steps_in_place(table, PLAN) == written, number
        assert caught.value.exit is expected(name, operation, written), number
        if path.exists():
            finish(table, path)
            assert table.medium().read() == PLAN.after(), number


def expected(fault: str, operation: str, written: int) -> Exit:
    """DESIGN: 5 when writes landed, 4 for a refused write, 3 for what could not be looked at."""
    if written:
        return Exit.HALF_DONE
    return Exit.REFUSED if fault in REFUSING and operation in WRITES else Exit.UNKNOWN


@pytest.mark.parametrize("name", TRANSIENT)
def test_from_some_call_on_nothing_answers(
    server: str, calls: list[str], tmp_path: Path, name: str
) -> None:
    """Every call fails from here on, so nothing tells what became of a lost write."""
    for number, operation in enumerate(calls):
        faulty, table = prepared(server, PLAN)
        faulty.faults = dict.fromkeys(range(number, 199), TRANSIENT[name])
        path = tmp_path / f"{number}.jsonl"
        with pytest.raises(ReshardError) as caught:
            run(faulty, table, PLAN, path)
        before = sum(one in WRITES for one in calls[:number])
        landed = operation in WRITES and name.endswith("after")
        assert steps_in_place(table, PLAN) == before + landed, number
        sent = operation in WRITES and name not in ("throttled", "unsent")
        half = before or sent
        assert isinstance(caught.value, HalfDone if half else CannotTell), (number, caught.value)
        assert not isinstance(caught.value, Refused)
        if half:
            assert read(path).fix.applied == set(range(before))
        if path.exists():
            finish(table, path)
            assert table.medium().read() == PLAN.after(), number


@pytest.mark.parametrize("name", TRANSIENT)
def test_going_on_outlives_the_same_faults(
    server: str, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "j.jsonl"
    plan = twice()
    faulty, table = prepared(server, plan)
    faulty.faults = dict.fromkeys(range(3, 99), LASTING["denied"])
    with pytest.raises(HalfDone):
        run(faulty, table, plan, path)
    copy, rows = path.read_bytes(), table.medium().read()
    for number in range(3):
        path.write_bytes(copy)
        for key in {image.key for image in table.medium().read()}:
            table.pull(key)
        for image in rows:
            table.plant(image)
        faulty = FaultySession(session())
        faulty.faults[number] = TRANSIENT[name]
        journal, records = Journal.open(path)
        with journal:
            store = table.medium(faulty)
            resume(journal, records, store, volatile_attributes=MOVING)
        assert table.medium().read() == plan.after(), number
        assert len(faulty.calls) > number
