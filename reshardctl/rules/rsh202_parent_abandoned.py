"""A closed shard with unread records that nothing will read.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, View, from_effects
from reshardctl.rules.families import below_a_row, is_closed, is_open, waits_for_a_parent

CODE, NAME = "RSH202", "parent-abandoned"


def match(view: View) -> Iterator[Finding]:
    """Error or warning: what the shard still owes is lost once it expires."""
    found = [
        e for e in (
            *view.harmed(Harm.STALLED, Cause.NO_POSITION),
            *view.harmed(Harm.SKIPPED, Cause.REFILLED, Cause.LATEST),
        )
        if is_closed(view, e.shard)
        and not below_a_row(view, e.shard) and not waits_for_a_parent(view, e.shard)
    ]
    what = "closed, and nothing will read what it still owes"
    costs = "its unread records are lost once they expire"
    yield from from_effects(CODE, NAME, found, what, costs)
