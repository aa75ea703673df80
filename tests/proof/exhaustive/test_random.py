"""Tables over streams, random ones and small ones: what the core says and plans, the reference
consumer does.

A failure prints a case file that shows it again; put it into tests/cases/kcl with what should be.
"""

from __future__ import annotations

import pytest

from tests.proof.exhaustive.checking import FORECASTS, RANDOM, SLICE, first_here, first_violation
from tests.proof.exhaustive.properties import forecast
from tests.proof.exhaustive.scenes import count, nth, scene
from tests.proof.exhaustive.toml import case_file
from tests.proof.exhaustive.trials import Trial

pytestmark = pytest.mark.slow

BLOCK = 25


@pytest.mark.parametrize("start", first_here(range(0, RANDOM, BLOCK), 2))
def test_random_tables(start: int) -> None:
    assert (told := first_violation(map(scene, range(start, start + BLOCK)))) is None, told


ONCE_WRONG = (3330000018, 3330000203, 3330000431, 3330006193, 3350005000, 3600001761)
"""A plan that stopped between two steps left a start worse than it was. The first two: what one
lease made necessary was a step of its own. The next three: a row that KCL cannot read was mended
first, and then KCL filled the holes below it. The last: it came last, and was the only row."""


@pytest.mark.parametrize("seed", ONCE_WRONG)
def test_random_tables_that_were_wrong(seed: int) -> None:
    assert (told := first_violation([scene(seed)])) is None, told


@pytest.mark.parametrize("start", first_here(range(RANDOM, RANDOM + FORECASTS, 4 * BLOCK), 1))
def test_more_forecasts(start: int) -> None:
    for seed in range(start, start + 4 * BLOCK):
        trial = Trial(scene(seed))
        found = list(forecast(trial))
        assert not found, f"{found}\n\n{case_file(trial)}"


PARTS = 16
"""Of every small table: one root, at most two operations, six states a shard. A slice, of which a
sixteenth at every turn; `scripts/test sim` runs all."""


@pytest.mark.parametrize("part", first_here(range(PARTS), 1))
def test_small_tables(part: int) -> None:
    chosen = range(part * SLICE, count(), PARTS * SLICE)
    assert (told := first_violation(map(nth, chosen))) is None, told


SMALL_ONCE_WRONG = (1021, 1237, 3181, 18613, 1753, 4345, 6937, 8665, 9961, 14713, 19957, 26005)
"""The first four: nothing was written although a child was to be read before its parent, as no
record was lost. The others: a step moved a grandchild back before the next one created the row that
its parent waits for, so that a plan that stopped between the two left a new disorder."""


@pytest.mark.parametrize("index", SMALL_ONCE_WRONG)
def test_small_tables_that_were_wrong(index: int) -> None:
    assert (told := first_violation([nth(index)])) is None, told


def test_the_small_tables_are_what_they_are_called() -> None:
    """6^1 + 6^3 + 2 * 6^5 + 6^4 tables, each for two initial positions; every one once."""
    assert count() == 2 * (6 + 6**3 + 2 * 6**5 + 6**4)
    assert len({nth(index).name for index in range(0, count(), 101)}) == len(range(0, count(), 101))
