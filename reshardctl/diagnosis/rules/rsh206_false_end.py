"""RSH206, see `pages/RSH206.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View, from_effects
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm

CODE, NAME = "RSH206", "false-end"


def match(view: View) -> Iterator[Finding]:
    """Error: the shard is never read again, or the whole consumer crashes, by release."""
    what = "marked as finished, but the shard is open"
    if crashes := view.harmed(Harm.CRASHES, Cause.FALSE_END):
        shards = tuple(s for s, f in view.simulation.fates.items() if f.cause is Cause.FALSE_END)
        shards = shards or tuple(s for e in crashes for s in e.by)
        yield Finding(CODE, NAME, Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    costs = "nothing that is written to it is read"
    yield from from_effects(CODE, NAME, view.harmed(Harm.STALLED, Cause.FALSE_END), what, costs)
