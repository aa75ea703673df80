"""RSH203, see `pages/RSH203.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, View, of_effects, rule
from reshardctl.diagnosis.rules.families import below_a_row, is_open, waits_for_a_parent
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH203", "child-not-started")
def child_not_started(view: View) -> Iterator[Found]:
    """Error: the child is never read, however long the consumer runs."""
    effects = [
        e for e in view.harmed(Harm.STALLED, Cause.NO_POSITION)
        if (is_open(view, e.shard) or below_a_row(view, e.shard))
        and not e.by and not waits_for_a_parent(view, e.shard)
    ]
    what = "there is no position, and nothing will ever make one"
    if any(e.shard in view.lineage and view.lineage[e.shard].parents for e in effects if e.shard):
        what = f"the parents have ended, {what}"
    costs = "never read; the records expire unread"
    yield from of_effects(effects, what, costs)
