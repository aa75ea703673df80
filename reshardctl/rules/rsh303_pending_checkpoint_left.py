"""A prepared checkpoint that was never committed.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View, from_odd

CODE, NAME = "RSH303", "pending-checkpoint-left"


def match(view: View) -> Iterator[Finding]:
    """Info: the application gets it at its next start."""
    what = "a prepared checkpoint was never committed; the application is told of it"
    yield from from_odd(CODE, NAME, view.oddities(Oddity.PENDING), Severity.INFO, what)
