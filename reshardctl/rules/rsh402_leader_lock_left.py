"""A leader's lock that may outlive its worker.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View, from_odd

CODE, NAME = "RSH402", "leader-lock-left"


def match(view: View) -> Iterator[Finding]:
    """Info: after a crash nothing may start for up to two minutes."""
    what = "a leader lock is in place: after a crash nothing starts until it is two minutes old"
    yield from from_odd(CODE, NAME, view.oddities(Oddity.LEADER_LEFT), Severity.INFO, what)
