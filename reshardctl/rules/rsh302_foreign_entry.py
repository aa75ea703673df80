"""Rows of other kinds beside the positions.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Oddity
from reshardctl.rules.base import Finding, Severity, View

CODE, NAME = "RSH302", "foreign-entry"


def match(view: View) -> Iterator[Finding]:
    """Info; an error where the starting release dies of them."""
    odd = view.oddities(Oddity.FOREIGN_ENTRY)
    if not odd:
        return
    dies = [] if view.oddities(Oddity.UNREADABLE) else view.harmed(Harm.DIES)
    severity = Severity.ERROR if dies else Severity.INFO
    kinds = ", ".join(dict.fromkeys(o.raw for o in odd))
    yield Finding(
        CODE, NAME, severity, (), f"rows that are no positions ({kinds}); they are never touched",
        dies[0].why if dies else "", tuple(dies),
    )
