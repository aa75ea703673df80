"""A plan for several candidates: right for each of them, by the reference consumer of KCL.

DESIGN.md section 3, "Unknown release or option". Where their own plans differ, no start after the
joint plan delivers less than the same start without it, and none has anything left to plan. Where
there is none, a question names the fewest options that decide between theirs.
"""

from __future__ import annotations

from functools import cache
from itertools import cycle

import pytest
from msgspec.structs import replace

from reshardctl.consumers.base import Candidate
from reshardctl.model import Create, shard_id
from reshardctl.planning.decision import (
    Ask,
    Decision,
    NoSafePlan,
    Nothing,
    Plan,
    Residual,
    agree,
    alike,
)
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import decide
from tests.proof.exhaustive.direct import Direct
from tests.proof.reference.kcl import RELEASES, run
from tests.support.case import CASES, Case, load
from tests.support.dialects import dialect_of
from tests.support.grouped import by_case
from tests.support.judging import Bench
from tests.support.questions import STARTED, situations

MODES = ("LATEST", "TRIM_HORIZON")
LATER = {"startingHashKey", "endingHashKey", "childShardIds"}
"""What tables from before KCL 1.14 do not have."""
Rows = list[dict]


def old(case: Case) -> Rows:
    return [{n: v for n, v in item.items() if n not in LATER} for item in case.items()]


def alone(bench: Bench) -> list[Decision]:
    """What each candidate would need if it were the only one."""
    case = bench.plan_case
    return [decide(replace(case, candidates=[one])) for one in case.candidates]


def payloads(case: Case, items: Rows, initial: str, release: str) -> set[str]:
    ran = run(Direct(case), "orders", items, initial, release)  # type: ignore[arg-type]
    return {name for names in ran.delivered.values() for name in names}


def test_one_lost_lease_in_a_table_from_before_1_14():
    """1.13 recovers by itself, later releases need the row: creating it is right for all."""
    case = load(CASES / "kcl" / "a-one.toml")
    bench = Bench.of(case, "LATEST", None, items=old(case))
    assert {type(decision) for decision in alone(bench)} == {Nothing, Plan}
    plan = bench.decide()
    assert isinstance(plan, Plan) and len(plan.after) == len(bench.plan_case.candidates)
    (write,) = [w for step in plan.steps for w in step.writes]
    assert isinstance(write.change, Create)
    assert not write.live, "1.13 was not seen to take it while it runs"


@pytest.mark.parametrize(("name", "options"), [
    ("e-below", {"initial": "TRIM_HORIZON"}), ("f-older", {}), ("row-empty", {}),
    ("row-typed-number", {"initial": "TRIM_HORIZON"}),
])  # fmt: skip
def test_a_plan_may_be_right_for_all_answers_though_each_of_them_needs_another(name, options):
    """What one release needs does no harm under another."""
    case = load(CASES / "kinesis-consumer" / f"{name}.toml")
    bench = Bench.on(case, dialect_of(case.consumer).images(case), {"app": "app", **options})
    assert not alike(alone(bench))
    plan = bench.decide()
    assert isinstance(plan, Plan) and len(plan.after) == len(bench.plan_case.candidates)
    then = replace(bench.plan_case, images=tuple(bench.after(plan.steps)))
    for one in then.candidates:
        assert isinstance(decide(replace(then, candidates=[one])), Nothing)


CANDIDATES = {
    (case.name, options["initial"], age): (case, case.items() if age == "new" else old(case))
    for what, case, options, probe in situations()
    if case.consumer == "kcl" and not (case.multi or case.side or probe) and what == STARTED
    and case.rows and options["initial"] in MODES
    for age in ("new", "old")
}  # fmt: skip
"""Cases that may have several candidates: name, start mode, whether the table is of today."""
AGES = dict(zip(dict.fromkeys((name, initial) for name, initial, _ in CANDIDATES),
                cycle(("new", "old", "old", "new", "old"))))  # fmt: skip
CHOSEN = [(*key, age) for key, age in AGES.items()][::2]
OTHERS = [key for key in CANDIDATES if key not in CHOSEN]
"""Each case is looked at under one of its start modes, with one of the tables; all else is long."""


@cache
def mixed(name: str, initial: str, age: str) -> Bench | None:
    """Where the candidates want different plans; judged once for all tests here."""
    case, rows = CANDIDATES[name, initial, age]
    bench = Bench.of(case, initial, None, items=rows)
    several = len(bench.plan_case.candidates) > 1 and not alike(alone(bench))
    return bench if several else None


def no_release_delivers_less(name: str, initial: str, age: str) -> None:
    bench = mixed(name, initial, age)
    plan = None if bench is None else bench.decide()
    if bench is None or not isinstance(plan, Plan):
        return
    rows = CANDIDATES[name, initial, age][1]
    then = replace(bench.plan_case, images=tuple(bench.after(plan.steps)))
    for one in then.candidates:
        assert isinstance(decide(replace(then, candidates=[one])), Nothing)
        release = one.options["release"]
        if release in RELEASES:
            before = payloads(bench.case, rows, initial, release)
            after = payloads(bench.case, bench.applied(plan.steps), initial, release)
            assert before <= after, release


@by_case((key[0], "-".join(key[1:]), key) for key in CHOSEN)
def test_no_release_delivers_less_after_it_and_none_has_more_to_plan(name, initial, age):
    no_release_delivers_less(name, initial, age)


@pytest.mark.long
@by_case((key[0], "-".join(key[1:]), key) for key in OTHERS)
def test_nor_under_the_other_mode_or_with_a_table_of_the_other_age(name, initial, age):
    no_release_delivers_less(name, initial, age)


@pytest.mark.parametrize(("keys", "least"), [
    pytest.param(CHOSEN, 12, id="in-turn"),
    pytest.param(CANDIDATES, 50, id="all", marks=pytest.mark.long),
])  # fmt: skip
def test_most_of_them_need_no_answer(keys, least):
    found = {key: bench for key in keys if (bench := mixed(*key)) is not None}
    asked = [key for key, bench in found.items() if not isinstance(bench.decide(), Plan)]
    assert len(found) > least
    assert len(asked) * 3 <= len(found), asked


NONE = NoSafePlan("no row can hold it", ())


def test_an_answer_names_no_option_that_is_the_same_for_all_it_leaves():
    """Every candidate of release 1 starts at LATEST, so there the application decides alone."""
    candidates: dict[tuple[str, str, str], Decision] = {
        ("1", "LATEST", "a"): Nothing(), ("1", "LATEST", "b"): NONE,
        ("2", "LATEST", "a"): NONE, ("2", "TRIM_HORIZON", "a"): Nothing(),
    }  # fmt: skip
    names = ("release", "initial", "application")
    read = [
        Candidate(None, dict(zip(names, values, strict=True)), defaults={
            "release": values[0], "initial": "LATEST",
        }) for values in candidates
    ]
    ask = agree(names, read, list(candidates.values()))
    assert isinstance(ask, Ask) and ask.options == names
    assert list(map(dict, ask.answers)) == [
        {"release": "1", "application": "a"}, {"release": "1", "application": "b"},
        {"release": "2", "initial": "LATEST"}, {"release": "2", "initial": "TRIM_HORIZON"},
    ]
    assert ask.defaults == {"initial": "LATEST"}, "only what the library does in each of them"


def test_decisions_that_write_nothing_differ_in_what_they_leave_alone():
    dear = Effect(Harm.REREAD, shard_id(1), True)
    left, same, other = (
        Nothing((Residual(shard_id(number), dear, flag),))
        for number, flag in ((1, "reread=2h"), (1, "reread=all"), (2, "reread=2h"))
    )
    assert alike([left, same]) and not alike([left, other]) and not alike([left, Nothing()])
