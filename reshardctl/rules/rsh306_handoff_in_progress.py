"""A lease is being handed from one worker to another.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View, from_odd

CODE, NAME = "RSH306", "handoff-in-progress"


def match(view: View) -> Iterator[Finding]:
    """Info: it is finished or undone by the consumer itself."""
    what = "a hand-off between two workers is under way, or was when they stopped"
    yield from from_odd(CODE, NAME, view.oddities(Oddity.HAND_OFF), Severity.INFO, what)
