"""A position of a shard that does not exist yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View, from_odd

CODE, NAME = "RSH212", "position-before-birth"


def match(view: View) -> Iterator[Finding]:
    """Warning: at the next reshard the shard would be born finished."""
    what = "positions of shards that do not exist yet"
    costs = "the consumer takes such a shard for finished: born at the next reshard, it is never read"
    odd = view.oddities(Oddity.UNBORN)
    yield from from_odd(CODE, NAME, odd, Severity.WARNING, what, costs)
