"""Every KCL case through the core: forecast, findings, writes, and the start after them.

The expectations are the case files', which cite the runs on the real library; the reference
consumer and the real KCL execute the same files.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reshardctl.diagnosis.rules import Severity
from reshardctl.model import Delete, Update
from reshardctl.planning.plan import Ask, NoSafePlan, Nothing, Plan
from tests.support.case import Case, Expect, all_cases
from tests.support.grouped import by_case
from tests.support.judging import Bench, delivered


def _expects() -> Iterator[tuple[str, Case, str, str, Expect]]:
    for case in [*all_cases("kcl"), *all_cases("kcl-tables")]:
        for expect in case.expects:
            for initial in expect.initial:
                for release in expect.releases:
                    name = f"{case.name}-{initial.partition(':')[0]}-{release}"
                    yield name, case, initial, release, expect


EXPECTS = list(_expects())
every_expect = by_case((e[1].name, e[0], e[1:]) for e in EXPECTS)
every_stored = by_case((e[1].name, e[0], e[1:]) for e in EXPECTS if e[1].rows)


def codes(bench: Bench) -> set[str]:
    return {f.code for f in bench.findings() if f.severity >= Severity.WARNING}


@every_expect
def test_forecast(case, initial, release, expect):
    bench = Bench.of(case, initial, release)
    (run,) = bench.replays()
    assert (run.crash is not None) == expect.dies
    lineage = bench.plan_case.state.lineage
    assert delivered(case, run, lineage) == {
        shard: expect.delivers.get(shard, ()) for shard in (s["ShardId"] for s in case.shards)
    }


@every_stored
def test_findings(case, initial, release, expect):
    assert codes(Bench.of(case, initial, release)) == set(expect.findings)


@by_case((e[1].name, e[0], e[1:]) for e in EXPECTS if e[4].infos is not None)
def test_infos(case, initial, release, expect):
    findings = Bench.of(case, initial, release).findings()
    assert {f.code for f in findings if f.severity < Severity.WARNING} == expect.infos


@every_stored
@pytest.mark.only(lambda expect: expect.fixed is not None, "the case says nothing of a fix")
def test_fix(case, initial, release, expect):
    fixed = expect.fixed
    bench = Bench.of(case, initial, release, fixed.policy)
    decision = bench.decide()
    if fixed.refused:
        kinds = {
            "noline": NoSafePlan,
            "ask:initial": Ask,
            "ask:recreated": Ask,
            "residual": Nothing,
        }
        assert isinstance(decision, kinds[fixed.refused]), decision
        return
    assert isinstance(decision, Plan | Nothing), decision
    steps = decision.steps if isinstance(decision, Plan) else ()
    shard_of = bench.plan_case.consumer.shard_of
    written = {shard_of(w.key): _position(w) for step in steps for w in step.writes}
    wanted = {
        f"shardId-{n:012d}": case.number_of(p) if p.startswith("s") and p != "same" else p
        for n, p in fixed.writes.items()
    }
    assert written == wanted
    after = Bench.of(case, initial, release, fixed.policy, bench.applied(steps))
    (run,) = after.replays()
    lineage = bench.plan_case.state.lineage
    assert delivered(case, run, lineage) == {
        s["ShardId"]: fixed.delivers.get(s["ShardId"], ()) for s in case.shards
    }
    assert codes(after) == set(fixed.remains)
    assert isinstance(after.decide(), Nothing), "the second plan is empty"


def _position(write) -> str:
    change = write.change
    if isinstance(change, Delete):
        return "delete"
    values = change.set if isinstance(change, Update) else change.attributes
    before = write.before.attributes.get("checkpoint") if write.before else None
    moved = "checkpoint" in values and values["checkpoint"] != before
    return values["checkpoint"]["S"] if moved else "same"
