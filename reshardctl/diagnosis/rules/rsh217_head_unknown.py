"""RSH217, see `pages/RSH217.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_effects, rule
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

HELPS = (
    "A child that a fix began at its start looks the same, and misses nothing. If records are "
    "missing, fix --set SHARD=TRIM_HORIZON reads it again, once"
)


@rule("RSH217", "head-unknown")
def head_unknown(view: View) -> Iterator[Found]:
    """Warning: its first records may be missing, and no row shows it."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.HEAD_PASSED)
        if not e.gone and not e.certain
    ]
    what = "begun late, while the application was at work: its first records may be missing"
    costs = "what was written to it before it was first asked for was never read"
    helps = HELPS if all(effect.past for effect in effects) else ""
    yield from of_effects(effects, what, costs, Severity.WARNING, helps)
