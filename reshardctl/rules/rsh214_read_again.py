"""Settled records that the next start reads again.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.rules.base import Finding, Severity, View, from_effects

CODE, NAME = "RSH214", "read-again"


def match(view: View) -> Iterator[Finding]:
    """Warning: duplicates beyond what the consumer delivers twice anyway."""
    found = [e for e in view.harmed(Harm.REREAD) if e.certain]
    what = "records that were already processed are read again"
    yield from from_effects(CODE, NAME, found, what, "duplicates", Severity.WARNING)
