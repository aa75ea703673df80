"""No start after a plan that skips nothing delivers less than the same start without it.

Judged by the reference consumer of KCL on every case, under every release of the case: what only
seems to be read, because its lease is gone and its children have come further, may be lost as
well (DESIGN.md section 3).
"""

from __future__ import annotations

from reshardctl.decision import Plan
from reshardctl.testing import load_topology
from tests.case import Case, all_cases
from tests.grouped import by_case
from tests.judging import Bench
from tests.reference.kcl import RELEASES, run


def _starts():
    for case in all_cases("kcl"):
        if case.multi or case.side or not case.rows:
            continue
        for initial in dict.fromkeys(i for e in case.expects for i in e.initial):
            for release in RELEASES:
                if release == "1.3.0" and initial.startswith("AT_TIMESTAMP"):
                    continue  # it came with 1.7
                yield case.name, f"{case.name}-{initial.partition(':')[0]}-{release}", (
                    case, initial, release,
                )


STARTS = list(_starts())


def payloads(case: Case, items: list[dict], initial: str, release: str) -> set[str]:
    ran = run(load_topology(case.stream), "orders", items, initial, release)
    return {name for names in ran.delivered.values() for name in names}


@by_case(STARTS)
def test_no_start_after_a_plan_delivers_less(case, initial, release):
    bench = Bench.of(case, initial, release)
    decision = bench.decide()
    if not isinstance(decision, Plan):
        return
    before = payloads(case, case.items(), initial, release)
    then = payloads(case, bench.applied(decision.steps), initial, release)
    assert before <= then
