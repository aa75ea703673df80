"""The intervals of one shard are joined: no overlap, no record that is not skipped."""

from __future__ import annotations

import pytest

from reshardctl.model import Interval, at_number, shard_id
from reshardctl.planning.skipped import Skipped, _joined

SHARD = shard_id(1)


def part(since: int, until: int, certain: bool = True) -> Skipped:
    return Skipped(Interval(SHARD, at_number(str(since)), at_number(str(until))), certain)


@pytest.mark.parametrize(("by_candidate", "joined"), [
    ([[part(1, 3), part(3, 5)]], [part(1, 5)]),  # what touches is one
    ([[part(1, 3), part(5, 7)]], [part(1, 3), part(5, 7)]),  # what is read between them stays out
    ([[part(1, 5)], [part(3, 7)]], [part(1, 3, False), part(3, 5), part(5, 7, False)]),
    ([[part(1, 5)], []], [part(1, 5, False)]),  # one of two candidates reads it
    ([[part(1, 5)], [part(1, 5, False)]], [part(1, 5, False)]),
])  # fmt: skip
def test_what_candidates_skip(by_candidate, joined) -> None:
    """Any that a candidate skips; certain is what all of them surely do."""
    assert _joined(by_candidate) == joined
