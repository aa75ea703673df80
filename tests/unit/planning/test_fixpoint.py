"""A plan after which the next one is empty, and no plan that leaves the process dying."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.consumers.kinesis_consumer.consumer import KinesisConsumer
from reshardctl.consumers.kinsumer.consumer import Kinsumer
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.errors import StalePlan
from reshardctl.model import (
    DONE,
    START,
    Create,
    Delete,
    Image,
    ShardId,
    Step,
    Update,
    Write,
    after,
    canonical,
    changed,
    shard_id,
    writes_of,
)
from reshardctl.planning.decision import Decision, NoSafePlan, Nothing, Plan, Residual, shards_left
from reshardctl.planning.effects import Effect, Harm, StreamState
from reshardctl.planning.joining import _of_its_family, both, cheapest, joined, rewritten
from reshardctl.planning.plan import Answers, Case, Planner, decide
from reshardctl.planning.policy import Accept
from reshardctl.planning.writes import rebase
from tests.support.case import CASES, load
from tests.support.judging import Bench
from tests.support.lineages import split_in_turn

ROW = Image("a", canonical({"n": {"N": "3"}, "x": {"S": "old"}, "y": {"S": "old"}}))

CREATE = Create({"x": {"S": "new"}})
SET = Update({"x": {"S": "new"}}, add={"n": 1})
MORE = Update({"y": {"S": "newer"}}, remove=("x",), add={"n": 1})
COSTS = Effect(Harm.REREAD, ShardId("c"), True, START, DONE, 7200.0, why="again")


def write(change, before=ROW, key="a") -> Write:
    return Write(key, change, before, "why", tuple(before.attributes) if before else ())


@pytest.mark.parametrize(("before", "one", "other", "change"), [
    (None, CREATE, Update({"y": {"S": "z"}}), Create({"x": {"S": "new"}, "y": {"S": "z"}})),
    (None, CREATE, Delete(), None),
    (ROW, SET, MORE, Update({"y": {"S": "newer"}}, ("x",), {"n": 2})),
    (ROW, Update({"x": {"S": "new"}}), Update({}, add={"n": 1}), SET),
    (ROW, SET, Delete(), Delete()),
    (ROW, Delete(), CREATE, Update({"x": {"S": "new"}}, ("n", "y"))),
    (ROW, Update({"x": {"S": "new"}}), Update({"x": {"S": "old"}}), None),
])  # fmt: skip
def test_two_writes_of_a_row_become_one_with_the_guard_of_what_was_read(
    before, one, other, change
):
    first = write(one, before)
    middle = changed(before, first)
    second = Write("a", other, middle, "why", tuple(middle.attributes) if middle else ())
    found = both(first, second)
    if change is None:
        assert found is None
        return
    assert found is not None
    assert found.change == change
    assert found.before == before
    assert set(found.guard) <= set(before.attributes if before else ())
    assert changed(before, found) == changed(middle, second)


def plan(*writes: Write, residuals=()) -> Plan:
    return Plan((Step("rows", writes),), ((),), ((),), residuals)


class Scripted(Planner, frozen=True):
    """then: what a pass plans, by how many rows there are. holds: whether joined plans are proven.
    """

    then: Mapping[int, Decision] = {}
    holds: bool = True

    def after(self, steps) -> Planner:
        return replace(self, case=replace(self.case, images=after(self.case.images, steps)))

    def one_pass(self) -> Decision:
        return self.then.get(len(self.case.images), Nothing())

    def proof(self, steps) -> Plan | None:
        return replace(plan(), steps=tuple(steps)) if self.holds else None


def continued(then: Mapping[int, Decision], holds: bool = True) -> Decision:
    """What becomes of the plan for one row."""
    state = StreamState(split_in_turn(2, [0, 1]), 0.0)
    case = Case(Kcl(), state, (ROW,), ())
    return Scripted(case, then=then, holds=holds).continued()


def born(key: str) -> Write:
    return write(Create({"x": {"S": "new"}}), None, key)


def test_plans_that_follow_one_another_become_one():
    found = continued({1: plan(born("b")), 2: plan(born("c")), 3: plan(born("d"))})
    assert isinstance(found, Plan)
    assert [w.key for step in found.steps for w in step.writes] == ["b", "c", "d"]
    assert len(after([ROW], found.steps)) == 4


def in_a_row(*shards: str) -> list[list[str]]:
    """The keys of each step after passes that each plan one of these new rows."""
    found = continued({n: plan(born(shard)) for n, shard in enumerate(shards, 1)})
    assert isinstance(found, Plan)
    return [[w.key for w in step.writes] for step in found.steps]


def test_what_a_new_lease_makes_necessary_in_its_family_is_written_with_it():
    """DynamoDB writes 100 rows at once (TransactWriteItems API reference). 0 was split into 2 and
    3, and 1 into 4 and 5."""
    zero, one, two, four = (shard_id(n) for n in (0, 1, 2, 4))
    assert in_a_row(two, one, zero, four) == [[two, zero], [one, four]]
    case = Case(Kcl(), StreamState(split_in_turn(2, [0, 1]), 0.0), (), ())
    child, parent = (plan(born(shard)).steps for shard in (two, zero))
    assert [len(step.writes) for step in Answers([Planner(case)]).joined(child, parent)] == [2]


@pytest.mark.parametrize(("consumer", "key", "many"), [
    (Kcl(), "{}", "leases"), (Kinsumer(), "checkpoints/{}", "checkpoints"),
    (KinesisConsumer(), "app-orders/{}", "rows"),
])  # fmt: skip
def test_a_title_names_the_rows_that_its_step_writes(consumer, key, many):
    """A row is written once, at its first write: the later step is called after what is left."""
    zero, one, two = (born(key.format(shard_id(n))) for n in range(3))
    more = replace(zero, change=Update({"x": {"S": "newer"}}), before=changed(None, zero))
    first, last = joined(
        [Step(f"{many[:-1]} of 0", (zero,))], [Step(f"{many} of 0, 1, 2", (more, one, two))],
        consumer, split_in_turn(3, []),
    )
    assert (first.title, last.title) == (f"{many[:-1]} of 0", f"{many} of 1, 2")


def test_a_plan_that_never_comes_to_an_end_is_none():
    found = continued({n: plan(born(f"row{n}")) for n in range(1, 99)})
    assert isinstance(found, NoSafePlan)
    assert "more to do afterwards" in found.why


def test_plans_that_are_worse_together_are_none():
    found = continued({1: plan(born("b")), 2: plan(born("c"))}, holds=False)
    assert isinstance(found, NoSafePlan)


def test_what_costs_more_than_is_accepted_stays_left_alone():
    left = (Residual(ShardId("c"), COSTS, "--accept reread=3h"),)
    first = plan(born("b"), residuals=left)
    assert continued({1: first, 2: plan(born("c"))}) == first


def test_a_plan_that_waits_for_the_consumer_is_taken_as_it_is():
    waiting = replace(plan(born("b")), steps=(Step("later", (born("b"),), barrier="commits/3"),))
    assert continued({1: waiting, 2: plan(born("c"))}) == waiting


@dataclass(frozen=True)
class Two:
    """Two candidates. then: what each would write, by how many writes there are."""

    then: Callable[[int], Sequence[Decision]]
    written: int = 0

    def after(self, steps) -> Two:
        return dataclasses.replace(self, written=len(list(writes_of(steps))))

    def still_to_do(self) -> Sequence[Decision]:
        return self.then(self.written)

    def right_for_all(self, steps) -> Plan | None:
        return plan(*writes_of(steps))

    def joined(self, steps, more) -> list[Step]:
        return [*steps, *more]


@pytest.mark.parametrize(("then", "keys"), [
    (lambda _: (Nothing(), Nothing()), ["b"]),
    (lambda n: (Nothing(), plan(born("c")) if n == 1 else Nothing()), ["b", "c"]),
    (lambda n: (Nothing(), plan(born(f"row{n}"))), None),
    (lambda _: (Nothing(), NoSafePlan("no row can hold it", ())), None),
    (lambda _: (Nothing(), Nothing((Residual(ShardId("c"), COSTS, "--accept reread=3h"),))), None),
], ids=["at once", "two passes", "without an end", "no plan", "more is left alone"])  # fmt: skip
def test_a_plan_for_two_candidates_has_an_end_for_both(then, keys):
    found = cheapest(Two(then), [plan(born("b")), Nothing()])
    assert (found and [w.key for w in writes_of(found.steps)]) == keys


def test_where_there_is_no_plan_no_shard_is_left_alone_for_its_price():
    assert shards_left(NoSafePlan("no row can hold it", ())) == set()


def test_a_plan_that_would_leave_the_process_dying_is_not_shown():
    """kinesis-consumer 0.5.0 dies of any row at its shard's end (runs on v0.5.0): mending only the
    one that is cheap to read again would be a write without use."""
    lineage = split_in_turn(2, [0, 1])
    space = f"app-{lineage.stream.name}"
    images = [
        Image(f"{space}/{one}", canonical({
            "namespace": {"S": space}, "shard_id": {"S": one},
            "sequence_number": {"S": lineage[one].end},
        }))
        for one in (shard_id(0), shard_id(1))
    ]  # fmt: skip
    consumer = KinesisConsumer().for_options({"app": "app"})
    apps = consumer.candidates(
        consumer.parse(images), {"initial": "TRIM_HORIZON", "release": "0.5.0"}
    )
    now = lineage.stream.created + 5400.0
    case = Case(consumer, StreamState(lineage, now), images, apps, accept=Accept(reread=900.0))
    found = decide(case)
    assert isinstance(found, NoSafePlan), "0 is read again from 603 s before, 1 from 1203 s"
    assert found.ways_out == ("accept it: --accept reread=1h",)
    whole = decide(replace(case, accept=Accept()))
    assert isinstance(whole, Plan)
    assert all(effect.harm is not Harm.CRASHES for effects in whole.after for effect in effects)


def test_a_row_that_is_written_twice_is_compared_with_what_was_read_once():
    first, second = write(Update({"x": {"S": "new"}})), write(Update({"y": {"S": "new"}}))
    steps = [Step("first", (first,)), Step("second", (second,))]
    _, (again,) = (step.writes for step in rebase(steps, [ROW], ()))
    assert again.before == changed(ROW, first)
    moved = after([ROW], steps[:1])
    with pytest.raises(StalePlan, match="row a: x has changed since it was read"):
        rebase(steps, moved, ())


def test_a_new_consumer_begins_at_every_open_shard():
    """KCL's first synchronisation makes a lease for each (ShardSyncer, of an empty table)."""
    case = Bench.of(load(CASES / "kcl" / "healthy-roots.toml"), "TRIM_HORIZON", "3.5.1").plan_case
    new = replace(case, images=(), bootstrap=True)
    found = decide(new)
    assert isinstance(found, Plan)
    assert {w.key for w in writes_of(found.steps)} == {*case.state.lineage.open_shards()}
    assert decide(replace(new, images=after([], found.steps))) == Nothing()


@pytest.mark.parametrize(("others", "joins"), [(0, True), (98, True), (99, False)])
def test_a_step_joins_another_of_its_family_while_a_transaction_has_room(others, joins):
    """TransactWriteItems takes 100 items (DynamoDB API reference)."""
    lineage = split_in_turn(1, [0])
    parent, child, _ = lineage

    def write(key: str) -> Write:
        image = Image(key, {"leaseKey": {"S": key}})
        return Write(key, Delete(), image, "a row too many")

    more = tuple(write(shard_id(100 + n)) for n in range(others))
    first, second = Step("parent", (write(parent), *more)), Step("child", (write(child),))
    assert _of_its_family([first], second, Kcl(), lineage) == (0 if joins else None)


def test_a_step_of_files_keeps_its_title_whichever_rows_it_still_writes():
    """The others name the rows in it."""
    def deleted(key: str) -> Write:
        return Write(key, Delete(), Image(key, {}), "a row too many")

    step = Step("metastore.json", (deleted("a"), deleted("b")))
    assert rewritten(step, step.writes[:1], CONSUMERS["quickwit"]).title == step.title
