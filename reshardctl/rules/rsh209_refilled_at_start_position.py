"""A lost position is made again at the application's start position.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, View, from_effects
from reshardctl.rules.families import is_open

CODE, NAME = "RSH209", "refilled-at-start-position"


def match(view: View) -> Iterator[Finding]:
    """Error or warning: what was written to the shard before that is skipped."""
    found = [
        e for e in view.harmed(Harm.SKIPPED, Cause.REFILLED)
        if is_open(view, e.shard)
    ]
    what = "has no position; the consumer makes one at the application's start position"
    costs = "what was written to it before is skipped"
    yield from from_effects(CODE, NAME, found, what, costs)
