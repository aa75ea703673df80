"""RSH209, see `pages/RSH209.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, View, of_effects, rule
from reshardctl.diagnosis.rules.families import below_a_row, is_open
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH209", "refilled-at-start-position")
def refilled_at_start_position(view: View) -> Iterator[Found]:
    """Error or warning: what was written to the shard before that is skipped."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.REFILLED)
        if is_open(view, e.shard) or below_a_row(view, e.shard)
    ]
    what = "has no position; the consumer makes one at the application's start position"
    costs = "what was written before that is skipped"
    yield from of_effects(effects, what, costs)
