"""The case files against the real Kinesis Client Library 2.7.2 and 3.5.1.

What counts is the program's log of delivered records, not the table. The library is as published;
its intervals are configured short, and an agent shortens two constants that no setting reaches
(test_kcl_agent.py shows that it changes nothing else).
"""

from __future__ import annotations

import pytest

from tests.interop.kcl import executed
from tests.interop.kcl.laboratory import Laboratory
from tests.interop.kcl.situations import Situation, situations
from tests.interop.kcl.verdict import differences

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("situation", situations(), ids=lambda situation: situation.id)
def test_library_delivers_what_the_case_says(
    situation: Situation, laboratory: Laboratory
) -> None:
    outcome = laboratory.outcome(situation)
    executed.note(situation.id)
    found = differences(outcome, situation.delivers, situation.order, dies=situation.dies)
    print(f"{outcome.seconds:.1f} s\n{outcome.tail()}")
    assert found == []
