"""kinesis-consumer's cases against the real kinesis_consumer input of Telegraf 1.34.4 and 1.39.3.

From the module proxy, on DynamoDB Local. What counts is what an output is given, which takes each
metric at once. `fix` and `undo` are the command itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from reshardctl.testing.service import Settings
from tests.proof.libraries.go import executed
from tests.proof.libraries.go.laboratory import Laboratory
from tests.proof.libraries.go.opened import opened
from tests.proof.libraries.go.situations import TELEGRAF, Situation, positioned, robbed, situations
from tests.proof.libraries.kcl.verdict import Outcome, differences
from tests.support.case_stream import shard_name
from tests.support.needs import needs

pytestmark = pytest.mark.interop
DROPS = "/a/TRIM_HORIZON/unrepaired"
"""Shard 0 is closed, and six of its records are unread: one answer."""


@pytest.fixture(scope="module")
@needs("real-telegraf-1.34", "real-telegraf-1.39")
def laboratories(request: pytest.FixtureRequest) -> Iterator[dict[str, Laboratory]]:
    with ExitStack() as stack:
        yield {
            library: stack.enter_context(contextmanager(opened)(library, request.session))
            for library in TELEGRAF
        }


every = [situation for library in TELEGRAF for situation in situations(library)]
by_file = [situation for library in TELEGRAF for situation in positioned(library)]
wrong = [situation for library in TELEGRAF for situation in robbed(library)]


@pytest.mark.parametrize("situation", every, ids=lambda each: each.id)
def test_input_delivers_what_the_case_says(
    situation: Situation, laboratories: dict[str, Laboratory]
) -> None:
    """And each row then holds the number of what was delivered last of its shard."""
    outcome = _outcome(situation, laboratories)
    assert differences(outcome, situation.delivers, situation.order, dies=situation.dies) == []
    left = laboratories[situation.library].left[situation.id]
    last = dict(outcome.delivered)
    assert {shard: left.get(shard) for shard in last} == last


@pytest.mark.parametrize("situation", by_file, ids=lambda each: each.id)
def test_it_starts_at_the_positions_of_a_file(
    situation: Situation, laboratories: dict[str, Laboratory]
) -> None:
    outcome = _outcome(situation, laboratories)
    assert differences(outcome, situation.delivers, situation.order, dies=False) == []


@pytest.mark.parametrize("situation", wrong, ids=lambda each: each.id)
def test_wrong_plan_is_noticed(situation: Situation, laboratories: dict[str, Laboratory]) -> None:
    outcome = _outcome(situation, laboratories)
    found = differences(outcome, situation.delivers, situation.order, dies=False)
    assert [line.partition(":")[0] for line in found] == [shard_name(2)], found


@pytest.mark.parametrize("library", TELEGRAF)
def test_the_last_answer_of_a_closed_shard_is_dropped_with_its_records(
    library: str, laboratories: dict[str, Laboratory]
) -> None:
    """Where the answer without a next iterator holds records, as Kinesis may give it: `consume` in
    consumer.go returns before it looks at them. No position changes that; every report says so."""
    (one,) = [each for each in situations(library) if each.id.endswith(DROPS)]
    outcome = laboratories[library].run(one, Settings(end_with_last_records=True))
    delivers = {**one.delivers, shard_name(0): ()}
    assert one.delivers[shard_name(0)]
    assert differences(outcome, delivers, one.order, dies=False) == []


def _outcome(situation: Situation, laboratories: dict[str, Laboratory]) -> Outcome:
    outcome = laboratories[situation.library].outcome(situation.id)
    executed.note(situation.id)
    print(f"{outcome.seconds:.1f} s\n{outcome.tail()}")
    return outcome
