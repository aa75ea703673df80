"""The parents have ended, and nothing will ever start the child.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, View, from_effects
from reshardctl.rules.families import below_a_row, is_closed, is_open, waits_for_a_parent

CODE, NAME = "RSH203", "child-not-started"


def match(view: View) -> Iterator[Finding]:
    """Error: the child is never read, however long the consumer runs."""
    found = [
        e for e in view.harmed(Harm.STALLED, Cause.NO_POSITION)
        if (is_open(view, e.shard) or below_a_row(view, e.shard))
        and not waits_for_a_parent(view, e.shard)
    ]
    what = "its parents have ended, it has no position, and nothing will ever give it one"
    costs = "it is never read; its records expire unread"
    yield from from_effects(CODE, NAME, found, what, costs)
