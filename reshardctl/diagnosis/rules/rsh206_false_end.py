"""RSH206, see `pages/RSH206.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, of_effects, rule
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH206", "false-end")
def false_end(view: View) -> Iterator[Found]:
    """Error: the shard is never read again, or the whole consumer crashes, by release."""
    what = "marked as finished, but the shard is open"
    if crashes := view.harmed(Harm.CRASHES, Cause.FALSE_END):
        shards = tuple(s for s, f in view.simulation.fates.items() if f.cause is Cause.FALSE_END)
        shards = shards or tuple(s for e in crashes for s in e.by)
        yield Found(Severity.ERROR, shards, what, crashes[0].why, tuple(crashes))
        return
    costs = "nothing that is written to it is read"
    yield from of_effects(view.harmed(Harm.STALLED, Cause.FALSE_END), what, costs)
