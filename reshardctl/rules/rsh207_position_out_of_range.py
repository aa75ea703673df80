"""A position that is no place in its shard.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, View, from_effects

CODE, NAME = "RSH207", "position-out-of-range"


def match(view: View) -> Iterator[Finding]:
    """Error: Kinesis refuses the number for ever, and the shard stalls while its row looks alive."""
    what = "its position is a number of another shard or of an earlier stream of this name"
    costs = "Kinesis refuses the number at every attempt; the shard and its children are not read"
    found = [] if view.recreated else view.harmed(Harm.STALLED, Cause.FOREIGN_NUMBER)
    yield from from_effects(CODE, NAME, found, what, costs)
