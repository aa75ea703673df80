"""RSH208, see `pages/RSH208.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, View, of_effects, rule
from reshardctl.diagnosis.rules.families import below_a_row, is_open
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm
from reshardctl.planning.policy import LATEST_AT_START


@rule("RSH208", "child-at-latest", wanted_by=frozenset({LATEST_AT_START.name}))
def child_at_latest(view: View) -> Iterator[Found]:
    """Error or warning: records written to the child before that start are skipped."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.LATEST)
        if not e.gone and (is_open(view, e.shard) or below_a_row(view, e.shard))
    ]
    what = "at LATEST: the start is at the tip as of the consumer's next start"
    costs = "everything written until then is skipped"
    yield from of_effects(effects, what, costs)
