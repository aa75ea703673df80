"""A child starts at the tip as of the consumer's own start.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, View, from_effects
from reshardctl.rules.families import below_a_row, is_open

CODE, NAME = "RSH208", "child-at-latest"


def match(view: View) -> Iterator[Finding]:
    """Error or warning: everything written to it before that start is skipped."""
    found = [
        e for e in view.harmed(Harm.SKIPPED, Cause.LATEST)
        if not e.gone and (is_open(view, e.shard) or below_a_row(view, e.shard))
    ]
    what = "stands at LATEST: it starts at the tip as of the consumer's next start"
    costs = "everything written to it until then is skipped"
    yield from from_effects(CODE, NAME, found, what, costs)
