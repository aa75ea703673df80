"""RSH208, see `pages/RSH208.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, View, from_effects
from reshardctl.diagnosis.rules.families import below_a_row, is_open
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm
from reshardctl.planning.policy import LATEST_AT_START

CODE, NAME = "RSH208", "child-at-latest"
WANTED_BY = frozenset({LATEST_AT_START.name})


def match(view: View) -> Iterator[Finding]:
    """Error or warning: records written to the child before that start are skipped."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.LATEST)
        if not e.gone and (is_open(view, e.shard) or below_a_row(view, e.shard))
    ]
    what = "at LATEST: the start is at the tip as of the consumer's next start"
    costs = "everything written until then is skipped"
    yield from from_effects(CODE, NAME, effects, what, costs)
