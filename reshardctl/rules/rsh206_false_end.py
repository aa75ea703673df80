"""A shard is marked as finished while it is open.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, View, from_effects

CODE, NAME = "RSH206", "false-end"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard is never read again."""
    what = "marked as finished, but the shard is open"
    costs = "nothing that is written to it is read"
    yield from from_effects(CODE, NAME, view.harmed(Harm.STALLED, Cause.FALSE_END), what, costs)
