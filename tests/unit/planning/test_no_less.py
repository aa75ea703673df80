"""No start after a plan that skips nothing delivers less than the same start without it.

Judged by the reference consumers on cases with every kind of finding and of row, under every start
mode of the case and two of its releases: the newest, and another in turn (`scripts/test long`: on
every case, under all of them). What only seems to be
read may be lost as well (DESIGN.md section 3). What may come once instead of twice is what a store
proves to be processed; every such case is named here, with its proof.

Nor does a start deliver less after a fix that was killed between two steps (section 7.8). What
`--resume` and `undo` do then is the same for every plan: tests/unit/execution/test_crash.py.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import UsageError
from reshardctl.model import Image, Step
from reshardctl.planning.decision import Plan
from reshardctl.testing import load_topology
from tests.proof.exhaustive.direct import Direct
from tests.proof.reference import kcl, quickwit
from tests.proof.reference import test_kinsumer_cases as kinsumer
from tests.proof.reference.kinsumer import RELEASES as KINSUMER
from tests.proof.reference.test_kinesis_consumer_cases import _run as start_kinesis_consumer
from tests.proof.reference.test_spark_cases import SITUATIONS as SPARK
from tests.proof.reference.test_spark_cases import Situation
from tests.support.case import Case, all_cases
from tests.support.covering import few
from tests.support.dialects import dialect_of
from tests.support.dialects import quickwit as quickwit_rows
from tests.support.grouped import by_case
from tests.support.judging import Bench, options_of
from tests.support.own_folders import in_memory

pytestmark = pytest.mark.slow

ANY_PRICE = "reread=2400h,disorder"
FINISHED = "kinsumer finishes a shard with its last acknowledgement (checkpoints.go, finish)"
SWAPPED = "each of two rows holds the other's number"
ENDED = "a committed batch's log says SHARD_END, which the connector writes at a shard's end"
BEGUN = "a committed batch began behind it: the batch before had ended there"
PROVEN = {
    "kinsumer/c1-cached": FINISHED, "kinsumer/c1-empty-cache": FINISHED,
    "kinsumer/c1-no-cache": FINISHED,
    "kinesis-consumer/f-swapped": SWAPPED,
    "spark/log-ends-before-start-awslabs-1": BEGUN, "spark/log-ends-before-start-awslabs-2": BEGUN,
    "spark/log-ends-before-start-qubole": BEGUN,
    "spark/read-again-awslabs-1": ENDED, "spark/read-again-qubole": ENDED,
}  # fmt: skip

BOUNDED = (
    "the left-over log starts a shard at a time, and bounds the batch that is planned beside it: "
    "it has to go first, and a directory has no transaction"
)
WORSE = {"spark/stale-log-time-awslabs-1": BOUNDED, "spark/stale-log-time-awslabs-2": BOUNDED}
"""Cases whose first step alone delivers less, with the reason why no order is better."""

Start = Callable[[Sequence[Image]], Any]
"""A start of a reference consumer on these rows: has `delivered`."""
Options = dict[str, str]


def _starts_of_kcl() -> Iterator[tuple[Case, str, Options, bool, Start]]:
    for case in all_cases("kcl"):
        if case.multi or case.side or not case.rows:
            continue
        for initial in _initials(case):
            for release in kcl.RELEASES:
                if release == "1.3.0" and initial.startswith("AT_TIMESTAMP"):
                    continue  # it came with 1.7
                start = partial(_start_kcl, case, initial, release)
                yield case, release, options_of(case, initial, release), False, start


def _start_kcl(case: Case, initial: str, release: str, images: Sequence[Image]) -> kcl.Run:
    items = [dict(image.attributes) for image in images if "leaseKey" in image.attributes]
    return kcl.run(Direct(case), "orders", items, initial, release)  # type: ignore[arg-type]


def _starts_of_kinsumer() -> Iterator[tuple[Case, str, Options, bool, Start]]:
    for case in all_cases("kinsumer"):
        for initial in _initials(case):
            for release in KINSUMER:
                def start(images, case=case, initial=initial, release=release):
                    return kinsumer.played(case, list(images), initial, release)

                yield case, release, options_of(case, initial, release), False, start


def _starts_of_kinesis_consumer() -> Iterator[tuple[Case, str, Options, bool, Start]]:
    for case in all_cases("kinesis-consumer"):
        told = dict(case.expects[0].options)
        for initial in _initials(case):
            for release in dict.fromkeys(r for e in case.expects for r in e.releases):
                def start(images, case=case, initial=initial, release=release):
                    return start_kinesis_consumer(case, list(images), initial, release)

                yield case, release, options_of(case, initial, release) | told, False, start


def _starts_of_quickwit() -> Iterator[tuple[Case, str, Options, bool, Start]]:
    for case in all_cases("quickwit"):
        if quickwit_rows.backfill(case):
            continue  # a race
        for release in quickwit.RELEASES:
            def start(images, case=case, release=release):
                rows = _entries(images)
                name = case.stream["name"]
                return quickwit.started(load_topology(case.stream), name, rows, release)

            yield case, release, options_of(case, "", release), False, start


def _entries(images: Sequence[Image]) -> dict[str, str] | None:
    """The source's map; `None` without the source's key."""
    (source,) = [image for image in images if image.key == quickwit_rows.PREFIX]
    rows = {i.key[-20:]: i.attributes["position"]["S"] for i in images if i is not source}
    return rows if "checkpoint" in source.attributes else None


def _starts_of_spark() -> Iterator[tuple[Case, str, Options, bool, Start]]:
    for one in SPARK:
        told = options_of(one.case, one.initial, one.release) | dict(one.expect.options)
        yield one.case, one.release, told, one.expect.probe, partial(_start_spark, one)


def _start_spark(one: Situation, images: Sequence[Image]) -> Any:
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        return one.start(list(images), Path(folder), together=True)


def _initials(case: Case) -> list[str]:
    return list(dict.fromkeys(i for e in case.expects for i in e.initial))


WAYS = (_starts_of_kcl, _starts_of_kinsumer, _starts_of_kinesis_consumer, _starts_of_quickwit,
        _starts_of_spark)
SITUATIONS = {
    (f"{case.consumer}/{case.name}", f"{release} {told} {probe}"): (case, told, probe, start)
    for way in WAYS for case, release, told, probe, start in way()
}


def _in_turn() -> Iterator[tuple[str, str]]:
    """Of the releases of a case under the same other options: the last, and another in turn."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for name, situation in SITUATIONS:
        _, told, probe, _ = SITUATIONS[name, situation]
        other = {option: value for option, value in told.items() if option != "release"}
        groups[name, f"{other} {probe}"].append((name, situation))
    for turn, (*others, last) in enumerate(groups.values()):
        yield last
        if others:
            yield others[turn % len(others)]


FEW = {
    f"{name}/{one}" for name in ("kcl", "kinsumer", "kinesis-consumer", "quickwit", "spark")
    for one in few(tuple(all_cases(name)))
}
CHOSEN = {key for key in _in_turn() if key[0] in FEW}
EACH = [(*key, key) for key in SITUATIONS if key in CHOSEN]
OTHERS = [(*key, key) for key in SITUATIONS if key not in CHOSEN]


def payloads(run: Any) -> set[str]:
    return {name for names in run.delivered.values() for name in names}


@cache
def plan_of(name: str, situation: str) -> tuple[Bench, tuple[Step, ...]] | None:
    """Made once for all tests here."""
    case, told, probe, _ = SITUATIONS[name, situation]
    return planned(case, dialect_of(case.consumer).images(case), told, probe)


def planned(
    case: Case, rows: list[Image], told: Options, probe: bool
) -> tuple[Bench, tuple[Step, ...]] | None:
    try:
        bench = Bench.on(case, rows, told, accept=ANY_PRICE, probe=probe)
        decision = bench.decide()
    except UsageError:
        return None
    return (bench, tuple(decision.steps)) if isinstance(decision, Plan) else None


@cache
def came(name: str, situation: str, count: int) -> set[str]:
    """What comes behind so many steps of the plan; several tests ask."""
    plan = plan_of(name, situation)
    assert plan is not None
    bench, steps = plan
    rows = bench.after(steps[:count]) if count else bench.plan_case.images
    return payloads(SITUATIONS[name, situation][3](rows))


def withheld(name: str, situation: str, half: bool = False) -> set[str]:
    """What comes without the plan only; half: and not behind some of its steps alone."""
    plan = plan_of(name, situation)
    if plan is None:
        return set()
    whole = len(plan[1])
    counts = range(1, whole) if half else [whole]
    lost = [came(name, situation, 0) - came(name, situation, count) for count in counts]
    return set[str]().union(*lost)


def no_less(name: str, situation: str) -> None:
    if name not in PROVEN:
        assert not withheld(name, situation)


def no_less_half_way(name: str, situation: str) -> None:
    if name not in WORSE:
        assert not withheld(name, situation, half=True)


def as_much_after_a_new_plan(name: str, situation: str) -> None:
    plan = plan_of(name, situation)
    if plan is None:
        return
    bench, steps = plan
    case, told, probe, start = SITUATIONS[name, situation]
    for count in range(1, len(steps)):
        again = planned(case, bench.after(steps[:count]), told, probe)
        if again is None:
            anew = came(name, situation, count)
        else:
            anew = payloads(start(again[0].after(again[1])))
        whole = came(name, situation, len(steps))
        assert not whole - anew, f"behind {count} of {len(steps)} steps"


@by_case(EACH)
def test_no_start_after_a_plan_delivers_less(name, situation):
    no_less(name, situation)


@by_case(EACH)
def test_nor_one_after_a_fix_that_was_killed_between_two_steps(name, situation):
    """Nor does a new plan after that bring less than the whole."""
    no_less_half_way(name, situation)
    as_much_after_a_new_plan(name, situation)


@pytest.mark.long
@by_case(OTHERS)
def test_all_of_this_on_every_case_and_under_every_release(name, situation):
    no_less(name, situation)
    no_less_half_way(name, situation)
    as_much_after_a_new_plan(name, situation)


def test_what_is_named_as_proven_comes_once():
    once = {name for name, situation in SITUATIONS if name in PROVEN and withheld(name, situation)}
    assert once == PROVEN.keys()


def test_what_is_named_as_worse_half_way_is_so():
    worse = {name for name, situation in SITUATIONS
             if name in WORSE and withheld(name, situation, half=True)}  # fmt: skip
    assert worse == WORSE.keys()
