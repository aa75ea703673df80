"""A shard waits for a parent that never ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, View, from_effects
from reshardctl.rules.families import waits_for_a_parent

CODE, NAME = "RSH213", "blocked-for-ever"


def match(view: View) -> Iterator[Finding]:
    """Error: nothing of it is read until the parent is mended."""
    found = [
        e for e in view.harmed(Harm.STALLED)
        if e.cause is None or (e.cause is Cause.NO_POSITION and waits_for_a_parent(view, e.shard))
        or (e.cause is Cause.UNREADABLE and e.by)
    ]
    what = "waits for a parent that never ends"
    costs = "it is not read until that parent is mended; its records expire unread"
    yield from from_effects(CODE, NAME, found, what, costs)
