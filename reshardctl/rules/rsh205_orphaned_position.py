"""A finished position outlived its shard.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View, from_odd

CODE, NAME = "RSH205", "orphaned-position"


def match(view: View) -> Iterator[Finding]:
    """Info: a leftover that the consumer removes, or that harms nothing."""
    what = "positions of shards that are not listed any more"
    yield from from_odd(CODE, NAME, view.oddities(Oddity.GONE), Severity.INFO, what)
