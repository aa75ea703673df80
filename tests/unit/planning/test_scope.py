"""The plan of some shards: its writes alone are proven, and it names what it needs beside them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import MANY
from reshardctl.lineage import Lineage
from reshardctl.model import (
    TIP,
    Cause,
    Delete,
    Image,
    ShardId,
    Step,
    WillRead,
    Write,
    after,
    at_number,
    exactly,
    shard_id,
)
from reshardctl.planning.decision import Ask, Scope
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Case, Decision, NoSafePlan, Nothing, Plan, decide
from reshardctl.planning.within_scope import relation, touched, widened
from tests.support.case import CASES, load
from tests.support.dialects import kinesis_consumer as rows
from tests.support.judging import Bench
from tests.unit.lineage.histories import STREAM, fresh


def case_of(name: str, *shards: int, whole: bool = True, policy: str = "lossless") -> Case:
    case = load(CASES / "kcl" / f"{name}.toml")
    scope = Scope(frozenset(map(shard_id, shards)), whole)
    return replace(Bench.of(case, "LATEST", "3.5.1", policy).plan_case, scope=scope)


def writes(case: Case, decision: Decision) -> set[ShardId]:
    assert isinstance(decision, Plan), decision
    return set(touched(case, decision.steps))


def test_without_a_scope_all_is_planned() -> None:
    case = replace(case_of("a-both-named"), scope=None)
    assert writes(case, decide(case)) == {shard_id(2), shard_id(3)}


@pytest.mark.parametrize("number", [2, 3])
def test_one_child_of_a_split_is_started_by_itself(number: int) -> None:
    """Each child has a lease of its own, and 0 is finished: neither child needs the other."""
    case = case_of("a-both-named", number)
    decision = decide(case)
    assert writes(case, decision) == {shard_id(number)}
    assert isinstance(decision, Plan) and decision.added == ()
    rows = after(case.images, decision.steps)
    assert decide(replace(case, images=rows)) == Nothing()


def test_a_shard_that_needs_nothing_gets_no_plan() -> None:
    assert decide(case_of("a-both-named", 0)) == Nothing()
    assert decide(case_of("a-both-named", whole=False)) == Nothing()


def test_a_merge_takes_its_other_parent_along() -> None:
    """1 and 2 have no lease; KCL 3 creates none for 1 once 2 is leased (full sync)."""
    case = case_of("full-merge-ended-coparent-lost", 2)
    decision = decide(case)
    assert isinstance(decision, Plan)
    assert [more.shard for more in decision.added] == [shard_id(1)]
    assert decision.added[0].why.startswith(f"a parent of {shard_id(2)}: ")
    case = case_of("full-merge-ended-coparent-lost", 0)
    decision = decide(case)
    assert isinstance(decision, Plan)
    assert decision.added[0].why.startswith(f"the other parent of {shard_id(2)}, beside ")


def test_a_parent_is_ended_with_its_children() -> None:
    """No synchronisation creates leases below a finished one (kcl: a hole)."""
    case = case_of("g-no-children", 0)
    decision = decide(case)
    assert isinstance(decision, Plan)
    assert {more.shard for more in decision.added} == {shard_id(2), shard_id(3)}
    assert all(more.why.startswith(f"a child of {shard_id(0)}: ") for more in decision.added)


def test_a_row_of_an_unrelated_shard_is_not_written_but_asked_for() -> None:
    """3 waits for the end of 0, which fails at the lease of 2, its other child (the case file)."""
    decision = decide(case_of("row-unreadable-child-of-a-reader", 3))
    assert isinstance(decision, NoSafePlan)
    assert decision.needs == (shard_id(2),)
    assert f"it takes writes to {shard_id(2)} (" in decision.why
    assert decision.ways_out == ("select what it needs as well: --shards 2",)


@pytest.mark.parametrize("number", [2, 3])
def test_a_skipping_policy_moves_what_was_selected(number: int) -> None:
    case = case_of("a-both-named", number, policy="latest-at-start")
    assert writes(case, decide(case)) == {shard_id(number)}


@pytest.mark.parametrize("release", ["0.5.0", "master-31e0042"])
def test_the_only_copy_of_another_shard_s_number_is_not_written_over(release: str) -> None:
    """1 and 2 hold each other's numbers (the case file): one number put right alone destroys what
    tells how far the other shard was read, which would then be read again as a whole."""
    case = load(CASES / "kinesis-consumer" / "f-swapped.toml")
    options = {"initial": "TRIM_HORIZON", "release": release, "app": "app"}
    whole = Bench.on(case, rows.images(case), options).plan_case
    alone = decide(replace(whole, scope=Scope(frozenset({shard_id(1)}))))
    assert isinstance(alone, NoSafePlan)
    assert alone.needs == (shard_id(1), shard_id(2))
    for shards in ([1, 2], [0, 1]):
        scope = Scope(frozenset(map(shard_id, shards)))
        assert writes(whole, decide(replace(whole, scope=scope))) == {shard_id(1), shard_id(2)}


@pytest.mark.parametrize(("shard", "selected", "words"), [
    (2, 4, "a parent of 4"), (4, 2, "a child of 2"), (3, 5, "the other parent of 6, beside 5"),
    (0, 4, "an ancestor of 4"), (4, 0, "a descendant of 0"), (1, 4, "related to what is selected"),
])  # fmt: skip
def test_a_shard_is_named_by_what_it_is_to_the_selection(shard, selected, words) -> None:
    """0 is split into 2 and 3, 2 into 4 and 5; then 5 and 3 are merged into 6."""
    history = fresh(2)
    history.split(0)
    history.split(2)
    history.merge(5, 3)
    lineage = Lineage(STREAM, history.shards())
    told = relation(lineage, shard_id(shard), frozenset({shard_id(selected)}))
    assert told.replace("shardId-00000000000", "") == words


WHOLE = decide(replace(case_of("a-both-named"), scope=None))
SECOND, THIRD = (decide(case_of("a-both-named", number)) for number in (2, 3))
NONE, OTHER = NoSafePlan("no row can hold it", ()), NoSafePlan("nor for the rest", ())


def scripted(
    selected: set[int], script: dict[tuple[int, ...] | None, Decision],
    name: str = "a-both-named", asked: list[tuple[int, ...] | None] | None = None,
) -> Decision:
    """The decision on shards of a case. script: what is decided on which, or on all of them.

    asked: gets these, in the order in which they are looked at.
    """
    def decided(case: Case) -> Decision:
        of = None if case.scope is None else tuple(sorted(int(s[8:]) for s in case.scope.shards))
        if asked is not None:
            asked.append(of)
        return script[None] if of is None else script.get(of, NONE)

    case = replace(case_of(name), scope=None)
    return widened(case, Scope(frozenset(map(shard_id, selected))), decided)


def test_an_added_shard_that_the_plan_can_do_without_is_left_out() -> None:
    assert isinstance(SECOND, Plan)
    harm = Effect(Harm.SKIPPED, shard_id(0), certain=True, seconds=60.0)
    mended = replace(SECOND, before=((harm,),))
    found = scripted({0}, {None: WHOLE, (0, 2, 3): WHOLE, (0, 2): mended})
    assert writes(case_of("a-both-named"), found) == {shard_id(2)}
    assert isinstance(found, Plan) and [more.shard for more in found.added] == [shard_id(2)]


def test_the_nearest_shards_are_added_first() -> None:
    """3 is the parent of 4, and 0 that of 3."""
    assert isinstance(SECOND, Plan)
    ((write,),) = (step.writes for step in SECOND.steps)
    far, near = (
        replace(SECOND, steps=tuple(
            Step("row", (replace(write, key=shard_id(number)),)) for number in numbers
        )) for numbers in ((0, 3, 4), (3, 4))
    )
    asked: list[tuple[int, ...] | None] = []
    found = scripted({4}, {None: far, (3, 4): near, (0, 3, 4): far}, "i1-deep", asked)
    assert asked[:3] == [(4,), None, (3, 4)] and (0, 3, 4) not in asked
    assert writes(case_of("i1-deep"), found) == {shard_id(3), shard_id(4)}


def test_a_proven_plan_that_mends_a_part_is_better_than_none() -> None:
    assert isinstance(SECOND, Plan)
    left = Effect(Harm.SKIPPED, shard_id(2), certain=True, seconds=60.0)
    part = replace(SECOND, after=((left,),))
    found = scripted({2}, {(2,): part, None: SECOND})
    assert isinstance(found, Plan) and found.steps == part.steps


ASK = Ask(("release",), ())


@pytest.mark.parametrize(("selected", "script", "decision"), [
    (2, {(2,): ASK}, ASK),
    (2, {None: OTHER}, NONE),
    (0, {None: WHOLE, (0, 2, 3): Nothing()}, Nothing()),
    (1, {None: THIRD}, Nothing()),
], ids=[
    "a question is asked before a shard is added",
    "where the whole has no plan the selection says why it has none",
    "what has to be done to its children may turn out to be nothing",
    "a healthy shard has nothing to do with what others need",
])  # fmt: skip
def test_what_is_decided_without_a_plan(selected, script, decision) -> None:
    assert scripted({selected}, script) == decision


def test_a_plan_that_writes_an_unrelated_shard_is_asked_for_by_all_that_it_writes() -> None:
    assert isinstance(SECOND, Plan)
    (write,) = (write for step in SECOND.steps for write in step.writes)
    beside = replace(write, key=shard_id(1))
    beyond = replace(SECOND, steps=(*SECOND.steps, Step("beside", (beside,))))
    found = scripted({2}, {(2,): beyond, None: WHOLE})
    assert isinstance(found, NoSafePlan)
    assert found.needs == (shard_id(1), shard_id(2))


def test_what_the_selection_and_its_relatives_take_is_asked_for_and_no_more() -> None:
    """All of the plan of everything writes 0 to 3; that of 0 and its children leaves 0 alone."""
    assert isinstance(WHOLE, Plan)
    (write, *_) = (write for step in WHOLE.steps for write in step.writes)
    one, own = (
        Step("beside", tuple(replace(write, key=shard_id(n)) for n in more)) for more in ([1], [0])
    )
    some = replace(WHOLE, steps=(*WHOLE.steps, one))
    every = replace(WHOLE, steps=(*WHOLE.steps, one, own))
    found = scripted({0}, {None: every, (0, 2, 3): some})
    assert isinstance(found, NoSafePlan)
    assert found.needs == tuple(map(shard_id, (1, 2, 3)))


def test_of_a_row_of_many_shards_those_count_that_begin_elsewhere() -> None:
    """A number that is only spelled anew, as Quickwit spells them, moves nobody."""
    one, other = shard_id(0), shard_id(1)

    def simulation(rows: dict[ShardId, str], _: None) -> SimpleNamespace:
        return SimpleNamespace(fates={
            shard: WillRead(
                exactly(at_number(str(int(text)))), TIP, frozenset(), False, Cause.POSITION, ""
            )
            for shard, text in rows.items()
        })

    case = SimpleNamespace(
        consumer=SimpleNamespace(shard_of=lambda _: MANY, positions=lambda rows: rows),
        checkpoint=lambda rows=None: rows or {one: "7", other: "7"},
        after=lambda _: {one: "8", other: "07"}, candidates=[None], simulation=simulation,
    )  # fmt: skip
    steps = [Step("rows", (Write("index", Delete(), Image("index", {}), "why"),))]
    assert touched(case, steps) == {one: "why"}  # type: ignore[arg-type]


def test_a_plan_that_helps_only_the_added_shards_is_none_of_what_was_selected() -> None:
    """The row of 1 keeps master from reading what is left in 0; the row that the whole plan writes,
    of 2, changes nothing of that (the case file)."""
    case = load(CASES / "kinesis-consumer" / "b4.toml")
    options = {"initial": "LATEST", "release": "master-31e0042", "app": "app"}
    whole = Bench.on(case, rows.images(case), options).plan_case
    assert writes(whole, decide(whole)) == {shard_id(2)}
    part = decide(replace(whole, scope=Scope(frozenset({shard_id(0)}))))
    assert isinstance(part, NoSafePlan)
    assert part.why.startswith("the rows of shard 1 keep master from reading shard 0")
