"""Random histories in which retention overtakes the query: what is lost is said, or nothing is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reshardctl.errors import CannotTell
from tests.unit.spark.source.drive import Query
from tests.unit.spark.source.streams import Living, order_held, play
from tests.unit.spark.source.test_histories import LIFE, QUERY, finish, quickly

HOUR = 3600
LONG = st.tuples(
    st.just("wait"), st.just(0), st.sampled_from([HOUR, 6 * HOUR, 13 * HOUR, 86_399, 30 * HOUR])
)
RAISED = st.tuples(st.just("raise"), st.just(0), st.just(0))
BOTH = pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])
LIMITS = pytest.mark.parametrize("most", ["", "3"])
STEPS = st.lists(st.one_of(LIFE, LIFE, LONG, QUERY, QUERY, RAISED), min_size=1, max_size=40)


def all_is_read_or_the_loss_is_said(
    old: bool, most: str, roots: int, steps: list[tuple[str, int, int]]
) -> None:
    living = Living(roots)
    query = Query(living.fake, old, {"maxRecordsPerTrigger": most} if most else {})
    query.trigger()
    try:
        play(living, query, steps)
        finish(living, query)
    except CannotTell:
        return
    assert query.data() == living.all()
    order_held(living, query)


@BOTH
@LIMITS
@quickly
@given(roots=st.integers(1, 3), steps=STEPS)
def test_all_is_read_or_the_loss_is_said(old, most, roots, steps):
    all_is_read_or_the_loss_is_said(old, most, roots, steps)


@pytest.mark.long
@BOTH
@LIMITS
@settings(quickly, max_examples=300)
@given(roots=st.integers(1, 3), steps=STEPS)
def test_the_same_in_many_histories(old, most, roots, steps):
    """So many that each kind of loss, left unsaid, is found."""
    all_is_read_or_the_loss_is_said(old, most, roots, steps)
