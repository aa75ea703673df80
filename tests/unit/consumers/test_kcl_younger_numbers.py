"""A lease that holds the number of a younger stream, of which Kinesis gives no iterator
(InvalidArgumentException: FakeKinesis, after kinesalite's tests against AWS)."""

from __future__ import annotations

from typing import Any

import pytest

from reshardctl.errors import WrongStream
from reshardctl.model import WontRead, shard_id
from reshardctl.planning.plan import Nothing
from tests.support.case import CASES, load
from tests.support.case_rows import item_of
from tests.support.case_stream import number
from tests.support.dialects.kcl import images_of
from tests.support.judging import Bench

CASE = load(CASES / "kcl" / "foreign-number-proves-nothing.toml")
LATER = CASE.stream["created"] + 2 * 86_400
YOUNGER = number(LATER - 3, 7, LATER + 500, 0)


def bench(release: str, *checkpoints: str) -> Bench:
    rows: list[dict[str, Any]] = [
        item_of({"shard": shard, "checkpoint": text}, dict(CASE.topology))
        for shard, text in enumerate(checkpoints)
    ]
    options = {"initial": "TRIM_HORIZON", "release": release}
    return Bench.on(CASE, images_of(rows), options, accept="reread=1h,disorder")


@pytest.mark.parametrize("release", ["1.15.3", "2.7.2", "3.5.1"])
def test_beside_numbers_of_this_stream_it_is_another_stream_s_row(release: str) -> None:
    """DESIGN.md §7 rule 3: such a row is never written and never deleted."""
    found = bench(release, YOUNGER, "s1-0", "s2-0")
    (run,) = found.replays()
    assert isinstance(run.fates[shard_id(0)], WontRead)
    assert "RSH207" in {finding.code for finding in found.findings()}
    decision = found.decide()
    assert isinstance(decision, Nothing)
    (left,) = decision.residuals
    assert (left.shard, left.flag) == (shard_id(0), "")
    assert "another stream's" in left.why


@pytest.mark.parametrize("other", ["TRIM_HORIZON", "LATEST", "SHARD_END"])
def test_where_no_row_holds_a_number_of_this_stream_the_table_is_another_s(other: str) -> None:
    found = bench("3.5.1", YOUNGER, other, other)
    with pytest.raises(WrongStream):
        found.findings()
