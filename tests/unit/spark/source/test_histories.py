"""Random histories of a stream and of a query on it: nothing lost, nothing twice, parents first.
Where retention overtakes the query, what is lost is said."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reshardctl.errors import CannotTell
from reshardctl.testing.faults import short_page
from reshardctl.testing.service import Settings
from tests.unit.spark.source.drive import Query
from tests.unit.spark.source.streams import Living, order_held, play, replays_equal

PLACE = st.integers(0, 7)
LIFE = st.one_of(
    st.tuples(st.just("put"), PLACE, st.integers(1, 30)),
    st.tuples(st.just("split"), PLACE, st.just(0)),
    st.tuples(st.just("merge"), PLACE, st.just(0)),
    st.tuples(st.just("wait"), st.just(0), st.sampled_from([1, 15, 70, 700, 4000])),
)
LIVES = ("put", "split", "merge", "wait")
QUERY = st.sampled_from(["trigger", "trigger", "crash", "stop"]).map(lambda s: (s, 0, 0))
STEPS = st.lists(st.one_of(LIFE, LIFE, QUERY), min_size=1, max_size=40)
quickly = settings(
    max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def finish(living: Living, query: Query) -> None:
    living.fake.clock.advance(20)
    query.drain()


@pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])
@pytest.mark.parametrize("most", ["", "3", "40"])
@quickly
@given(roots=st.integers(1, 3), steps=STEPS)
def test_everything_once_and_parents_first(old, most, roots, steps):
    living = Living(roots)
    query = Query(living.fake, old, {"maxRecordsPerTrigger": most} if most else {})
    play(living, query, steps)
    finish(living, query)
    assert query.data() == living.all()
    order_held(living, query)
    replays_equal(query)
    if most:
        assert all(len(rows) <= int(most) for rows in query.delivered)


@pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])
@quickly
@given(roots=st.integers(1, 3), before=STEPS, steps=STEPS)
def test_latest_is_pinned_in_the_first_batch(old, roots, before, steps):
    living = Living(roots)
    play(living, Query(living.fake), before)
    living.fake.clock.advance(20)
    skipped = set(living.all())
    query = Query(living.fake, old, {"startingPosition": "LATEST"})
    assert query.trigger()
    play(living, query, steps)
    finish(living, query)
    assert query.data() == sorted(set(living.all()) - skipped)
    order_held(living, query)
    replays_equal(query)


@pytest.mark.parametrize("limit", [None, 5])
@quickly
@given(roots=st.integers(1, 3), parts=st.lists(STEPS, min_size=1, max_size=4))
def test_available_now_reads_what_there_is_and_ends(limit, roots, parts):
    living = Living(roots)
    query = Query(living.fake)
    for steps in parts:
        play(living, query, [step for step in steps if step[0] in LIVES])
        living.fake.clock.advance(20)
        query.available_now(limit)
        assert query.data() == living.all()
    order_held(living, query)


@quickly
@given(roots=st.integers(1, 2), steps=STEPS, pages=st.integers(1, 7))
def test_short_page_and_late_arrivals_change_nothing(roots, steps, pages):
    living = Living(roots, settings=Settings(arrival_lag=2.5, end_with_last_records=True))
    living.fake.faults.add("GetRecords", short_page(pages), times=None)
    query = Query(living.fake, True)
    play(living, query, steps)
    finish(living, query)
    assert query.data() == living.all()
    order_held(living, query)
    replays_equal(query)


HOUR = 3600
LONG = st.tuples(
    st.just("wait"), st.just(0), st.sampled_from([HOUR, 6 * HOUR, 13 * HOUR, 86_399, 30 * HOUR])
)
RAISED = st.tuples(st.just("raise"), st.just(0), st.just(0))
BOTH = pytest.mark.parametrize("old", [True, False], ids=["4.0", "4.2"])
LIMITS = pytest.mark.parametrize("most", ["", "3"])
LONGER = st.lists(st.one_of(LIFE, LIFE, LONG, QUERY, QUERY, RAISED), min_size=1, max_size=40)


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
@given(roots=st.integers(1, 3), steps=LONGER)
def test_all_is_read_or_the_loss_is_said(old, most, roots, steps):
    all_is_read_or_the_loss_is_said(old, most, roots, steps)


@pytest.mark.long
@BOTH
@LIMITS
@settings(quickly, max_examples=300)
@given(roots=st.integers(1, 3), steps=LONGER)
def test_the_same_in_many_histories(old, most, roots, steps):
    """So many that each kind of loss, left unsaid, is found."""
    all_is_read_or_the_loss_is_said(old, most, roots, steps)
