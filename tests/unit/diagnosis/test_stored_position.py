"""What a stored position is, for every consumer: a number is told as a number, whoever spelled it.

The expectation is the position as its library's own parser has it (`stored_cuts`), which the golden
files and the reference consumers hold.
"""

from __future__ import annotations

import pytest

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.errors import ReshardError
from reshardctl.model import Rank, at_number, exactly
from reshardctl.model.cuts import PARTS
from reshardctl.report.status import PositionKind, position_of
from tests.support.case import all_cases
from tests.support.judging import Bench, dialect_of, options_of

SAID = {"kinesis-consumer": {"app": "app"}}


@pytest.mark.parametrize("name", sorted(CONSUMERS))
def test_every_numeric_position_of_every_case_is_told_as_a_number(name: str) -> None:
    seen = 0
    for case in all_cases(name):
        expect = case.expects[0]
        try:
            options = options_of(case, expect.initial[0], expect.releases[0]) | SAID.get(name, {})
            one = Bench.on(case, dialect_of(name).images(case), options).plan_case
            checkpoint = one.checkpoint()
            app = one.candidates[0].app
            cuts = one.consumer.stored_cuts(one.state.lineage, checkpoint, app)
        except ReshardError:
            continue  # a case of what is refused
        positions, texts = one.consumer.positions(checkpoint), one.consumer.texts(checkpoint)
        for shard, cut in cuts.items():
            if cut.rank is not Rank.INSIDE or cut.by_time:
                continue
            found = position_of(positions[shard], texts[shard], exactly(cut), None)
            assert found.kind is PositionKind.NUMBER, (case.name, shard, positions[shard])
            assert found.number == cut.text.partition("/")[0], case.name
            assert found.stored == positions[shard]
            seen += 1
    assert seen > 5


@pytest.mark.parametrize(
    ("sub", "told"), [(0, 0), (7, 7), (-PARTS, 0), (1 - PARTS, 0), (3 - PARTS, 2)]
)
def test_a_part_of_an_aggregated_record_is_told_by_its_last_user_record(sub: int, told: int):
    """AFTER a record with `isLast` false: three user records processed are 0, 1 and 2."""
    number = "49680603963655591175188472045913549325650858348004769794"
    span = exactly(at_number(number, sub))
    found = position_of(f"AFTER_SEQUENCE_NUMBER {number}", number, span, None)
    assert (found.kind, found.sub) == (PositionKind.NUMBER, told)
