"""RSH201, see `pages/RSH201.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_effects, rule
from reshardctl.planning.effects import Harm


@rule("RSH201", "child-before-parent")
def child_before_parent(view: View) -> Iterator[Found]:
    """Warning: order by key is certainly broken between the two."""
    effects = [effect for effect in view.harmed(Harm.DISORDERED) if effect.certain]
    what = "read while an ancestor still has unread records, and does not wait for it"
    costs = "records of one key may be processed out of order"
    yield from of_effects(effects, what, costs, Severity.WARNING)
