"""RSH214, see `pages/RSH214.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_effects, rule
from reshardctl.planning.effects import Harm


@rule("RSH214", "read-again")
def read_again(view: View) -> Iterator[Found]:
    """Warning: duplicates beyond what the consumer delivers twice anyway."""
    effects = [e for e in view.harmed(Harm.REREAD) if e.certain]
    what = "records that were already processed are read again"
    yield from of_effects(effects, what, "duplicates", Severity.WARNING)
