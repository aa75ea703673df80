"""The case files against the real Kinesis Client Library, each at the releases that it names.

What counts is the program's log of delivered records, not the table. The library is as published;
its intervals are configured short (pace.py), and an agent shortens the one or two constants that
no setting reaches (test_kcl_agent.py shows that it changes nothing else).
"""

from __future__ import annotations

import pytest

from tests.proof.libraries.kcl import executed
from tests.proof.libraries.kcl.laboratory import LOCK_SECONDS, Laboratory
from tests.proof.libraries.kcl.plans import PLANNED, WRONG, Planned, Wrong
from tests.proof.libraries.kcl.verdict import differences

pytestmark = pytest.mark.interop

LOCKED = [each for each in PLANNED if each.start().locked and not each.situation.repaired]
LOCK_SLACK_SECONDS = 5  # the lock is read a moment before the runner says STARTED


@pytest.mark.parametrize("planned", PLANNED, ids=str)
def test_library_delivers_what_the_case_says(planned: Planned, laboratory: Laboratory) -> None:
    outcome = laboratory.outcome(planned.id)
    executed.note(planned.id, outcome.seconds, recorded=outcome.recorded)
    print(f"{outcome.seconds:.1f} s\n{outcome.tail()}")
    situation = planned.situation
    assert differences(outcome, situation.delivers, situation.order, dies=situation.dies) == []
    laboratory.confirm(outcome)


@pytest.mark.parametrize("planned", WRONG, ids=str)
def test_wrong_plan_is_noticed(planned: Wrong, laboratory: Laboratory) -> None:
    """The comparison has to fail for a plan that loses records, or it proves nothing."""
    outcome = laboratory.outcome(planned.id)
    fixed = planned.expect.fixed
    assert fixed is not None
    found = differences(outcome, fixed.delivers, fixed.order, dies=False)
    print("\n".join(found))
    assert [line.partition(":")[0] for line in found] == list(planned.robbed)
    laboratory.confirm(outcome)


@pytest.mark.parametrize("planned", LOCKED, ids=str)
def test_left_leader_lock_holds_back_leases_without_owner(
    planned: Planned, laboratory: Laboratory
) -> None:
    """KCL 3.x: a killed worker's `Leader` row keeps everybody from assigning for two minutes."""
    log = laboratory.outcome(planned.id).log
    began = log.of("STARTED")[0].at
    unowned = {
        item["leaseKey"]["S"] for item in planned.situation.case.rows if "leaseOwner" not in item
    }
    started = {event.members["shard"]: event.at - began for event in log.of("INIT")}
    print(started)
    assert unowned <= set(started)
    for shard, seconds in started.items():
        assert (seconds > LOCK_SECONDS - LOCK_SLACK_SECONDS) is (shard in unowned)
