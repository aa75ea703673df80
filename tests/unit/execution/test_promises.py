"""A plan's promise: what its start does, by harm and shard, and whether it is certain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reshardctl.execution.plan_file import broken, promises
from reshardctl.model import shard_id
from reshardctl.planning.effects import Effect, Harm

POSSIBLE = Effect(Harm.REREAD, shard_id(1), certain=False)
CERTAIN = replace(POSSIBLE, certain=True)


@pytest.mark.parametrize(("promised", "now", "worse"), [
    (CERTAIN, CERTAIN, False), (CERTAIN, POSSIBLE, False), (POSSIBLE, POSSIBLE, False),
    (POSSIBLE, CERTAIN, True),
    (CERTAIN, replace(CERTAIN, shard=shard_id(2)), True),
    (CERTAIN, replace(CERTAIN, shard=None), True),
    (CERTAIN, replace(CERTAIN, harm=Harm.SKIPPED), True),
    (CERTAIN, replace(CERTAIN, seconds=3600.0), False),
    (CERTAIN, replace(CERTAIN, harm=Harm.SKIPPED, gone=True), False),
    (CERTAIN, replace(CERTAIN, harm=Harm.SKIPPED, past=True), False),
])  # fmt: skip
def test_another_harm_another_shard_and_more_certainty_are_worse(promised, now, worse):
    assert bool(broken(promises((promised,)), promises((now,)))) is worse


def test_what_no_longer_happens_breaks_no_promise():
    assert broken(promises((CERTAIN,)), ()) == []
