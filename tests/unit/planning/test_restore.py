"""What takes a fix back: each row as it was, but for what has to stay as it is."""

from __future__ import annotations

import pytest

from reshardctl.model import Create, Delete, Image, Step, Update, Write, changed
from reshardctl.planning.restore import steps_back
from tests.support.plans import RESTORE, ended, lease

ONE, TWO = lease(1), lease(2)
CREATED = Write(ONE.key, Create(ONE.attributes), None, "it has no lease")
DELETED = Write(ONE.key, Delete(), ONE, "its shard does not exist", ("checkpoint",))


def after(*steps: Step) -> dict[str, Image | None]:
    """The rows that these steps leave."""
    rows: dict[str, Image | None] = {}
    for write in (write for step in steps for write in step.writes):
        rows[write.key] = changed(rows.get(write.key, write.before), write)
    return rows


def test_the_last_step_is_taken_back_first_and_in_it_the_last_write():
    three = lease(3)
    created = Write(three.key, Create(three.attributes), None, "it has no lease")
    steps = [Step("first", (ended(ONE),)), Step("second", (ended(TWO), created))]
    back = steps_back(steps, RESTORE)
    assert [step.title for step in back] == ["undo: second", "undo: first"]
    assert [write.key for write in back[0].writes] == [three.key, TWO.key]


def test_a_deleted_row_comes_back_without_its_owner_and_one_counter_on():
    """Its worker may be gone, and one that holds an old image must lose its claim."""
    (step,) = steps_back([Step("gone", (DELETED,))], RESTORE)
    row = after(Step("gone", (DELETED,)), step)[ONE.key]
    assert row is not None
    assert "leaseOwner" not in row.attributes
    assert row.attributes["leaseCounter"] == {"N": "16"}
    assert row.attributes["pendingCheckpointState"] == ONE.attributes["pendingCheckpointState"]


def test_a_counter_that_is_no_whole_number_comes_back_as_it_was():
    odd = Image(ONE.key, {**ONE.attributes, "leaseCounter": {"S": "many"}})
    gone = Step("gone", (Write(odd.key, Delete(), odd, "its shard does not exist"),))
    row = after(gone, *steps_back([gone], RESTORE))[ONE.key]
    assert row is not None and row.attributes["leaseCounter"] == {"S": "many"}


NOTHING_LEFT = [
    ("a created row that is gone", CREATED, None, ONE, None),
    ("a deleted row that is there again", DELETED, ONE, None, ONE),
    ("a deleted row that was not there", DELETED, None, None, None),
    ("a changed row that is gone", ended(ONE), ONE, changed(ONE, ended(ONE)), None),
    ("a row that is as it was", ended(ONE), ONE, changed(ONE, ended(ONE)), ONE),
]


@pytest.mark.parametrize(("write", "before", "left", "now"), [row[1:] for row in NOTHING_LEFT],
                         ids=[row[0] for row in NOTHING_LEFT])
def test_nothing_is_to_be_taken_back(write, before, left, now):
    assert RESTORE(write, before, left, now) is None


def test_a_step_of_which_nothing_is_to_be_taken_back_is_no_step():
    """It changed what the consumer counts alone."""
    counted = Write(ONE.key, Update({}, add={"leaseCounter": 1}), ONE, "an eviction")
    assert steps_back([Step("evict", (counted,))], RESTORE) == []


def test_what_the_consumer_changed_meanwhile_stays():
    """A renewal after the fix: the counter goes on from there."""
    left = changed(ONE, ended(ONE))
    assert left is not None
    renewed = Image(ONE.key, {**left.attributes, "leaseCounter": {"N": "40"}})
    back = RESTORE(ended(ONE), ONE, left, renewed)
    assert back is not None
    row = changed(renewed, back)
    assert row is not None and row.attributes["leaseCounter"] == {"N": "41"}
    assert row.attributes["checkpoint"] == ONE.attributes["checkpoint"]
