"""kinsumer's cases against the real library: snowplow-devops/kinsumer v1.7.0 from the module proxy.

Its tables are in DynamoDB Local, its intervals of a minute are configured to a second. What counts
is what the application is given, not the tables. `fix` and `undo` are the command itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.proof.libraries.go import executed
from tests.proof.libraries.go.laboratory import Laboratory
from tests.proof.libraries.go.opened import opened
from tests.proof.libraries.go.situations import Situation, robbed, situations
from tests.proof.libraries.kcl.verdict import differences
from tests.support.case_stream import shard_name
from tests.support.needs import needs

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
@needs("real-kinsumer")
def laboratory(request: pytest.FixtureRequest) -> Iterator[Laboratory]:
    yield from opened("kinsumer", request.session)


@pytest.mark.parametrize("situation", situations("kinsumer"), ids=lambda each: each.id)
def test_library_delivers_what_the_case_says(situation: Situation, laboratory: Laboratory) -> None:
    outcome = laboratory.outcome(situation.id)
    executed.note(situation.id)
    print(f"{outcome.seconds:.1f} s\n{outcome.tail()}")
    assert differences(outcome, situation.delivers, situation.order, dies=situation.dies) == []


@pytest.mark.parametrize("situation", robbed("kinsumer"), ids=lambda each: each.id)
def test_wrong_plan_is_noticed(situation: Situation, laboratory: Laboratory) -> None:
    outcome = laboratory.outcome(situation.id)
    executed.note(situation.id)
    found = differences(outcome, situation.delivers, situation.order, dies=False)
    assert [line.partition(":")[0] for line in found] == [shard_name(2)], found
