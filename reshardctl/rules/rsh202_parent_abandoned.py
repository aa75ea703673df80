"""A closed shard with unread records that nothing will read.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, View, from_effects
from reshardctl.rules.families import below_a_row, waits_for_a_parent


CODE, NAME = "RSH202", "parent-abandoned"


def match(view: View) -> Iterator[Finding]:
    """Error or warning: what the shard still owes is lost once it expires."""
    lineage = view.lineage
    found = [
        e for e in (
            *view.harmed(Harm.STALLED, Cause.NO_POSITION), *view.harmed(Harm.SKIPPED, Cause.REFILLED)
        )
        if e.shard in lineage and not lineage[e.shard].open
        and not below_a_row(view, e.shard) and not waits_for_a_parent(view, e.shard)
    ]
    what = "closed, has no position, and its records were not seen to be read"
    costs = "what it still owes is never read"
    yield from from_effects(CODE, NAME, found, what, costs)
