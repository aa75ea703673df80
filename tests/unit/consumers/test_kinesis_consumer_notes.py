"""What a report says of these readers that no row shows."""

from __future__ import annotations

import pytest

from reshardctl.planning.plan import Plan
from tests.support.case import CASES, load
from tests.support.dialects import kinesis_consumer as dialect
from tests.support.judging import Bench


@pytest.mark.parametrize(
    ("release", "said"),
    [("telegraf-1.39", True), ("telegraf-1.34", True), ("0.5.0", False), ("master-31e0042", False)],
)
def test_telegraf_s_rows_are_written_in_the_order_of_delivery(release: str, said: bool) -> None:
    """A count bounds them, no distance: with 5 places and the first of 40 records held up the row
    held the 40th, and after a kill the first never came (run of 1.39.3, Nov 2026). `onDelivery`
    stores whatever was delivered last (kinesis_consumer.go and store.go of telegraf
    b272631); the library stores each record's number once its callback has returned."""
    case = load(CASES / "kinesis-consumer" / "healthy-idle-parent.toml")
    options = {"app": "app", "release": release, "initial": "TRIM_HORIZON"}
    (run,) = Bench.on(case, dialect.images(case), options).replays()
    assert any("max_undelivered_messages" in note for note in run.notes) is said
    assert any("999 at most by default" in note for note in run.notes) is said


def test_rows_are_given_back_in_the_order_of_their_shards() -> None:
    """Python orders a set anew in each process, and a plan has to be the same in every one."""
    case = load(CASES / "kinesis-consumer" / "seeded-below-unread.toml")
    options = {"app": "app", "release": "master-31e0042", "initial": "TRIM_HORIZON"}
    plan = Bench.on(case, dialect.images(case), options).decide()
    assert isinstance(plan, Plan)
    assert [step.title for step in plan.steps] == ["rows of 1, 2"]
