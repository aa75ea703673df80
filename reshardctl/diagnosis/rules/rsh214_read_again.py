"""RSH214, see `pages/RSH214.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH214", "read-again"


def match(view: View) -> Iterator[Finding]:
    """Warning: duplicates beyond what the consumer delivers twice anyway."""
    effects = [e for e in view.harmed(Harm.REREAD) if e.certain]
    what = "records that were already processed are read again"
    yield from from_effects(CODE, NAME, effects, what, "duplicates", Severity.WARNING)
