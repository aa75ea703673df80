"""The default tier sees every mistake of `mutants.py`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, zip_longest

import pytest

from tests.proof.exhaustive.checking import RANDOM, SLICE, violations
from tests.proof.exhaustive.mutants import MUTANTS, Mutant
from tests.proof.exhaustive.scenes import Scene, count, nth, scene

pytestmark = pytest.mark.long


def default_tier() -> Iterator[Scene]:
    """The very scenes of the default tests, random and small ones in turns."""
    small = map(nth, range(0, count(), SLICE))
    turns = chain.from_iterable(zip_longest(map(scene, range(RANDOM)), small))
    return (one for one in turns if one is not None)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_it_is_seen(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    assert any(_fails(one) for one in default_tier())


def _fails(one: Scene) -> bool:
    return next(violations(one), None) is not None


def test_there_are_enough_and_none_is_seen_without_one() -> None:
    assert len(MUTANTS) >= 12
    assert not any(_fails(one) for one in islice(default_tier(), 20))
