"""Stores drawn at random, judged by the real KCL: the first seeds of every family.

Their starts are recorded (tests/proof/drawn/recorded), so a start is made here only where a plan
has changed, and for a sample. `scripts/prove differential` draws as many as wanted.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tests.proof.drawn.families import FAMILIES
from tests.proof.drawn.seeds import one

pytestmark = [pytest.mark.interop, pytest.mark.long]

SEEDS = range(20)
REAL = sorted(name for name in FAMILIES if name.startswith("kcl-"))


@pytest.mark.parametrize("name", REAL)
@pytest.mark.needs("real-kcl")
def test_nothing_is_violated(name: str) -> None:
    family = FAMILIES[name]
    with family.judges(family.jobs) as judge, ThreadPoolExecutor(family.jobs) as pool:
        ran = list(pool.map(partial(one, family, judge=judge), SEEDS))
    verdicts = dict(zip(SEEDS, (verdict for _, verdict in ran), strict=True))
    assert not {seed: v.violations for seed, v in verdicts.items() if v.violations}
    assert sum(verdict.starts for verdict in verdicts.values()) >= len(SEEDS)
