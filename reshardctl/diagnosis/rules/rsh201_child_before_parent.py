"""RSH201, see `pages/RSH201.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH201", "child-before-parent"


def match(view: View) -> Iterator[Finding]:
    """Warning: order by key is certainly broken between the two."""
    effects = [effect for effect in view.harmed(Harm.DISORDERED) if effect.certain]
    what = "read while an ancestor still has unread records, and does not wait for it"
    costs = "records of one key may be processed out of order"
    yield from from_effects(CODE, NAME, effects, what, costs, Severity.WARNING)
