"""Damaged checkpoints: what is forecast comes, what is planned helps, and what cannot be told is
refused in words; nothing is lost, nor read twice without a word, that the files still tell."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from reshardctl.errors import CannotTell
from tests.proof.exhaustive.checking import first_here
from tests.proof.exhaustive.spark_damage import COPYING, FORGETTING, damage
from tests.proof.exhaustive.spark_scenes import scene
from tests.proof.exhaustive.test_spark import violations

BLOCK, BLOCKS = 15, 8


def found(seed: int, to: Path, seen: Counter[str]) -> list[str]:
    """What does not hold of the damaged checkpoint of this seed."""
    one = scene(seed, to)
    how = damage(one.root, seed)
    try:
        wrong = list(violations(one, to, seen))
    except CannotTell as refused:
        named = "offsets/" in refused.what or "source" in refused.what
        return [] if named else [f"{how}: {refused.what} names no file"]
    may = " again, " if how in FORGETTING else "changes a start" if how in COPYING else None
    return [f"{how}: {one}" for one in wrong if may is None or may not in one]


@pytest.mark.parametrize("start", first_here(range(0, BLOCK * BLOCKS, BLOCK), 1))
def test_damaged_checkpoints(start: int, tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(start, start + BLOCK):
        wrong = found(seed, tmp_path / f"{seed}", seen)
        assert not wrong, "\n".join([f"seed {seed}", *wrong])
    assert seen["Plan"] >= 2, f"too few scenes of this block are mended: {seen}"
