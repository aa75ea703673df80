"""kinesis-consumer's cases against the real harlow/kinesis-consumer v0.5.0 from the module proxy.

On DynamoDB Local, and some of them on a real Redis, PostgreSQL and MariaDB. What counts is what the
application is given. `fix` and `undo` are the command itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.proof.libraries.go import executed
from tests.proof.libraries.go.laboratory import Laboratory
from tests.proof.libraries.go.opened import opened
from tests.proof.libraries.go.situations import Situation, positioned, robbed, situations
from tests.proof.libraries.kcl.verdict import differences
from tests.support.case_stream import shard_name
from tests.support.needs import needs

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
@needs("real-kinesis-consumer", "redis", "postgres", "mysql")
def laboratory(request: pytest.FixtureRequest) -> Iterator[Laboratory]:
    yield from opened("kinesis-consumer", request.session)


@pytest.mark.parametrize("situation", situations("kinesis-consumer"), ids=lambda each: each.id)
def test_library_delivers_what_the_case_says(situation: Situation, laboratory: Laboratory) -> None:
    outcome = laboratory.outcome(situation.id)
    executed.note(situation.id)
    print(f"{outcome.seconds:.1f} s\n{outcome.tail()}")
    delivers = dict(situation.delivers)
    for shard in _racing(situation):
        said, got = situation.case.expects[situation.place].fixed, outcome.of(shard)
        assert said is not None
        assert said.delivers[shard][: len(got)] == got
        delivers[shard] = got
    assert differences(outcome, delivers, situation.order, dies=situation.dies) == []


@pytest.mark.parametrize("situation", positioned("kinesis-consumer"), ids=lambda each: each.id)
def test_it_starts_at_the_positions_of_a_file(
    situation: Situation, laboratory: Laboratory
) -> None:
    outcome = laboratory.outcome(situation.id)
    executed.note(situation.id)
    print(f"{outcome.seconds:.1f} s\n{outcome.tail()}")
    assert differences(outcome, situation.delivers, situation.order, dies=False) == []


def _racing(situation: Situation) -> set[str]:
    """Scan ends with the first shard's error, and until it does the readers of other shards go on:
    those that neither need mending nor wait for one that does may have delivered something."""
    fixed = situation.expect.fixed
    if not situation.dies or fixed is None:
        return set()
    waiting = {later for _, later in fixed.order}
    return set(fixed.delivers) - {shard_name(shard) for shard in fixed.writes} - waiting


@pytest.mark.parametrize("situation", robbed("kinesis-consumer"), ids=lambda each: each.id)
def test_wrong_plan_is_noticed(situation: Situation, laboratory: Laboratory) -> None:
    outcome = laboratory.outcome(situation.id)
    executed.note(situation.id)
    found = differences(outcome, situation.delivers, situation.order, dies=False)
    assert [line.partition(":")[0] for line in found] == [shard_name(2)], found
