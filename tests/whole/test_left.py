"""`inspect` and `fix` agree, over all cases and over drawn stores: what needs no repair ends with 0
in both, and no fix ends with 0 that leaves an error (DESIGN.md section 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from msgspec.structs import replace

from reshardctl.diagnosis.rules import Finding, Severity, fails
from reshardctl.errors import ReshardError
from reshardctl.planning.decision import Ask, NoSafePlan, Nothing, Plan, nothing_left
from tests.proof.drawn.families import FAMILIES
from tests.proof.drawn.states import State
from tests.proof.drawn.trial import bench_of
from tests.support.judging import Bench
from tests.whole.test_cases_dialects import SITUATIONS

CONSUMERS = sorted({one.case.consumer for one in SITUATIONS})
DRAWN = [
    "reference-kinsumer-snowplow", "reference-kinesis-consumer", "reference-telegraf",
    "reference-kinesis-consumer-master", "reference-quickwit-0.8.2", "reference-quickwit-0.9.0",
    "reference-kcl-2.7.2", "reference-kcl-3.5.1",
]
SEEDS = range(25)


def disagreement(bench: Bench) -> str:
    """What `fix` would end with, against the findings that `inspect` fails by; "" where both say
    the same. A plan is something to do, and a question to answer."""
    try:
        decision, found = bench.decide(), bench.findings()
    except ReshardError:
        return ""
    if isinstance(decision, Plan | Ask) or getattr(decision, "residuals", None):
        return "" if not nothing_left(decision, errors=False) else "a shard is left"
    errors = [one.code for one in found if one.severity is Severity.ERROR]
    quiet = nothing_left(decision, errors=bool(errors))
    asked = not isinstance(decision, Nothing) and not quiet and not errors
    return f"{decision} beside {errors}" if asked or (quiet and errors) else ""


def apart(benches: Iterable[tuple[str, Bench]]) -> dict[str, str]:
    return {name: said for name, bench in benches if (said := disagreement(bench))}


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_over_every_case(consumer: str) -> None:
    ours = [one for one in SITUATIONS if one.case.consumer == consumer]
    assert apart((str(one), one.bench()) for one in ours) == {}


@pytest.mark.parametrize("family", DRAWN)
def test_over_drawn_stores(family: str) -> None:
    states = (FAMILIES[family].state(seed) for seed in SEEDS)
    assert apart(_readable(states)) == {}


def _readable(states: Iterable[State]) -> Iterator[tuple[str, Bench]]:
    """The states whose store is not refused as a whole."""
    for one in states:
        try:
            yield one.name, bench_of(one, one.images)
        except ReshardError:
            continue


@pytest.mark.parametrize(("errors", "asked_more", "done"), [
    (False, False, True), (True, False, False), (False, True, False),
])
def test_where_no_line_can_be_held(errors: bool, asked_more: bool, done: bool) -> None:
    assert nothing_left(NoSafePlan("why", ()), errors=errors, asked_more=asked_more) is done


@pytest.mark.parametrize(("severity", "policy", "fails_it"), [
    (Severity.ERROR, "lossless", True), (Severity.ERROR, "latest", True),
    (Severity.ERROR, "latest-at-start", False), (Severity.WARNING, "lossless", False),
])
def test_the_mark_that_a_policy_wants_is_no_failure(
    severity: Severity, policy: str, fails_it: bool
) -> None:
    finding = Finding("RSH208", "child-at-latest", severity, (), "at LATEST")
    assert fails(finding, policy) is fails_it
    assert fails(replace(finding, code="RSH202"), policy) is (severity is Severity.ERROR)
