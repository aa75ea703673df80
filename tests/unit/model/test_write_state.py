"""What became of a write, judged by its row."""

from __future__ import annotations

import pytest

from reshardctl.errors import AnswerLost
from reshardctl.model import Image, Step, Update, Write, changed, shard_id
from reshardctl.model.write_state import (
    WriteState,
    applied,
    differing,
    reached,
    same,
    touched,
    write_state,
    write_states,
    wrote_later,
)
from tests.support.plans import FIRST, MOVING, born, ended, gone, lease, plan_of, twice

EQUAL = [
    # DynamoDB answers "0.000023" for a stored "2.3E-5": numbers compare by value
    # (Amazon DynamoDB Developer Guide, "Data types": numbers are normalised).
    ({"N": "2.3E-5"}, {"N": "0.000023"}),
    ({"N": "7"}, {"N": "7.0"}),
    ({"N": "seven"}, {"N": "seven"}),
    ({"N": "-0"}, {"N": "0"}),
    ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}),
    ({"NS": ["1", "2E0"]}, {"NS": ["2", "1.0"]}),
    ({"M": {"x": {"N": "1"}}}, {"M": {"x": {"N": "1.0"}}}),
    ({"L": [{"N": "1"}]}, {"L": [{"N": "1.0"}]}),
    ({"NULL": True}, {"NULL": True}),
    (None, None),
]
DIFFERENT = [
    ({"N": "7"}, {"S": "7"}),
    ({"N": "7"}, {"N": "seven"}),
    ({"N": "7"}, {"N": "8"}),
    # Two neighbours that no float tells apart.
    ({"N": FIRST}, {"N": str(int(FIRST) + 1)}),
    ({"SS": ["a"]}, {"SS": ["a", "b"]}),
    ({"SS": ["a"]}, {"L": [{"S": "a"}]}),
    ({"L": [{"S": "a"}, {"S": "b"}]}, {"L": [{"S": "b"}, {"S": "a"}]}),
    ({"L": []}, {"L": [{"S": "a"}]}),
    ({"M": {"x": {"N": "1"}}}, {"M": {"y": {"N": "1"}}}),
    ({"BOOL": True}, {"BOOL": False}),
    ({"S": ""}, {"NULL": True}),
    ({"S": ""}, None),
    (None, {"N": "0"}),
]


@pytest.mark.parametrize(("one", "other", "equal"), [
    *((*pair, True) for pair in EQUAL), *((*pair, False) for pair in DIFFERENT),
])  # fmt: skip
def test_which_values_are_equal(one: dict | None, other: dict | None, equal: bool) -> None:
    assert same(one, other) is equal and same(other, one) is equal


def with_(image: Image | None, **attributes: dict | None) -> Image:
    """A row with some attributes changed, or gone where None."""
    assert image is not None
    row = {**image.attributes, **attributes}
    return Image(image.key, {name: value for name, value in row.items() if value is not None})


@pytest.mark.parametrize("write", [ended(lease(0)), born(1), gone(lease(2))])
def test_a_row_is_before_or_after(write: Write) -> None:
    assert write_state(write, write.before) is WriteState.PENDING
    assert write_state(write, changed(write.before, write)) is WriteState.APPLIED


PENDING, APPLIED, CONFLICT = WriteState.PENDING, WriteState.APPLIED, WriteState.CONFLICT
END, BORN = ended(lease(0)), born(1)
ENDED = changed(lease(0), END)
TAKEN = {"leaseOwner": {"S": "w1"}, "leaseCounter": {"N": "4"}}


@pytest.mark.parametrize(("write", "moving", "now", "expected"), [
    (END, MOVING, with_(lease(0), checkpoint={"S": "LATEST"}), CONFLICT),
    (END, MOVING, None, CONFLICT),
    (END, MOVING, with_(lease(0), unknown={"S": "x"}), PENDING),
    (END, MOVING, with_(lease(0), leaseOwner={"S": "w2"}), PENDING),
    (END, MOVING, with_(lease(0), leaseOwner={"S": "w2"}, leaseCounter={"N": "99"}), PENDING),
    (END, MOVING, with_(lease(0), leaseCounter={"N": "14"}), CONFLICT),
    (END, MOVING, with_(ENDED, leaseCounter={"N": "17"}), APPLIED),
    (END, MOVING, with_(ENDED, leaseOwner={"S": "w2"}), APPLIED),
    (END, MOVING, with_(ENDED, leaseCounter={"N": "15"}), CONFLICT),
    (END, MOVING, with_(ENDED, checkpoint={"S": "LATEST"}), CONFLICT),
    (END, MOVING, with_(ENDED, unknown={"S": "x"}), APPLIED),
    (END, frozenset(), with_(lease(0), leaseOwner={"S": "w2"}), CONFLICT),
    (BORN, MOVING, with_(changed(None, BORN), **TAKEN), APPLIED),
    (BORN, MOVING, with_(changed(None, BORN), **TAKEN, checkpoint={"S": FIRST}), CONFLICT),
    (gone(lease(2)), frozenset(), with_(lease(2), checkpoint={"S": "LATEST"}), CONFLICT),
])  # fmt: skip
def test_what_the_consumer_moves_by_itself_decides_nothing(
    write: Write, moving: frozenset[str], now: Image | None, expected: WriteState
) -> None:
    assert write_state(write, now, moving) is expected


def test_a_row_written_twice_stands_by_its_last_write() -> None:
    plan = twice()
    for count in range(len(plan.steps) + 1):
        now = {image.key: image for image in plan.after(count)}
        rows = {w.key: now.get(w.key) for step in plan.steps for w in step.writes}
        found = write_states(plan.steps, rows, MOVING)
        expected = [
            [WriteState.APPLIED if n < count else WriteState.PENDING for _ in step.writes]
            for n, step in enumerate(plan.steps)
        ]
        assert found == expected


def test_a_moved_row_is_moved_in_every_step() -> None:
    plan = plan_of([2, 1])
    rows = {image.key: image for image in plan.rows}
    now = {w.key: rows.get(w.key) for step in plan.steps for w in step.writes}
    key = plan.steps[0].writes[0].key
    now[key] = with_(now[key], checkpoint={"S": "LATEST"})
    assert write_states(plan.steps, now) == [
        [WriteState.CONFLICT, WriteState.PENDING],
        [WriteState.PENDING],
    ]


def test_a_write_that_changes_nothing_visible_counts_as_landed() -> None:
    write = Write("a", Update({"x": {"S": "1"}}), Image("a", {"x": {"S": "1"}}), "why")
    assert reached([write], write.before) == 1


def test_a_write_of_what_the_consumer_moves_alone_is_told_by_its_exact_values() -> None:
    row = lease(0)
    write = Write(row.key, Update({"leaseOwner": {"S": "w2"}}), row, "why")
    assert [reached([write], now, MOVING) for now in (row, changed(row, write))] == [0, 1]


def test_a_mistyped_counter_is_compared_as_it_stands() -> None:
    row = with_(lease(0), leaseCounter={"S": "7"})
    write = Write(row.key, Update({"checkpoint": {"S": "LATEST"}}), row, "w", ("leaseCounter",))
    assert write_state(write, row) is WriteState.PENDING
    assert write_state(write, with_(row, leaseCounter={"S": "8"})) is WriteState.CONFLICT


@pytest.mark.parametrize(("value", "state"), [
    ({"N": "9"}, WriteState.APPLIED), ({"N": "7"}, WriteState.CONFLICT),
    ({"N": "eight"}, WriteState.CONFLICT), ({"S": "9"}, WriteState.CONFLICT),
    (None, WriteState.CONFLICT),
], ids=str)  # fmt: skip
def test_a_counter_that_grew_further_was_written_and_one_that_is_no_number_was_not(value, state):
    row = with_(lease(0), leaseCounter={"N": "7"})
    change = Update({"checkpoint": {"S": "LATEST"}}, add={"leaseCounter": 1})
    write = Write(row.key, change, row, "why")
    now = with_(row, checkpoint={"S": "LATEST"}, leaseCounter=value)
    assert write_state(write, now) is state


def placed(counter: int, checkpoint: str) -> Image:
    """A row at this place after so many renewals."""
    return with_(lease(0), leaseCounter={"N": str(counter)}, checkpoint={"S": checkpoint})


def move(counter: int, start: str, to: str) -> Write:
    """A write that moves it and counts on."""
    change = Update({"checkpoint": {"S": to}}, add={"leaseCounter": 1})
    return Write(lease(0).key, change, placed(counter, start), "why", ("checkpoint",))


@pytest.mark.parametrize(("first", "second", "now", "told"), [
    (move(4, "0", "LATEST"), move(7, "1", "TRIM_HORIZON"), placed(8, "TRIM_HORIZON"), True),
    (move(7, "1", "TRIM_HORIZON"), move(4, "0", "LATEST"), placed(8, "TRIM_HORIZON"), False),
    (move(4, "0", "LATEST"), move(7, "1", "LATEST"), placed(8, "LATEST"), True),
    (move(7, "1", "LATEST"), move(4, "0", "LATEST"), placed(8, "LATEST"), False),
    (move(4, "0", "LATEST"), move(7, "1", "LATEST"), placed(9, "LATEST"), None),
    (move(5, "LATEST", "SHARD_END"), move(4, "0", "LATEST"), placed(5, "LATEST"), False),
    (move(4, "0", "LATEST"), move(5, "LATEST", "SHARD_END"), placed(5, "LATEST"), False),
    (move(4, "0", "LATEST"), move(7, "1", "TRIM_HORIZON"), placed(9, "2"), None),
    (move(4, "0", "LATEST"), move(9, "2", "TRIM_HORIZON"), placed(9, "2"), None),
], ids=["theirs is in place", "these are", "theirs to the letter", "these to the letter",
        "renewed since", "these begin from theirs", "theirs are not written", "moved on since",
        "moved on since, and theirs begin from there"])
def test_which_of_two_writes_of_a_row_came_later(
    first: Write, second: Write, now: Image, told: bool | None
) -> None:
    """By the row alone; no clock is asked."""
    assert wrote_later([first], [second], now) is told


def test_touched_and_differing() -> None:
    assert touched(born(1)) == set(changed(None, born(1)).attributes)
    assert touched(gone(lease(2))) == set(lease(2).attributes)
    assert "leaseCounter" in touched(ended(lease(0)))
    left = with_(lease(0), ours=None, checkpoint={"S": "x"}, leaseCounter={"N": "16"})
    assert differing(lease(0), left, MOVING) == ["checkpoint", "ours"]


BEFORE, WRITTEN, OTHER = 0, 1, 2


@pytest.mark.parametrize(("found", "told"), [
    ((WRITTEN, WRITTEN), True), ((BEFORE, BEFORE), False),
    ((WRITTEN, BEFORE), "only some rows are as written"),
    ((WRITTEN, OTHER), f"written since: {shard_id(1)}$"),
    ((OTHER, BEFORE), f"written since: {shard_id(0)}$"),
    ((OTHER, OTHER), f"written since: {shard_id(0)}, {shard_id(1)}$"),
])  # fmt: skip
def test_a_step_whose_answer_was_lost_is_in_place_where_all_its_rows_are(found, told) -> None:
    writes = (ended(lease(0)), ended(lease(1)))
    rows = {
        write.key: (write.before, changed(write.before, write),
                    with_(write.before, checkpoint={"S": "LATEST"}))[stands]
        for write, stands in zip(writes, found, strict=True)
    }  # fmt: skip
    step = Step("shards 0 and 1", writes)
    if isinstance(told, bool):
        assert applied(step, lambda _: rows) is told
        return
    with pytest.raises(AnswerLost, match=f"^shards 0 and 1: the answer was lost, .*{told}"):
        applied(step, lambda _: rows)
