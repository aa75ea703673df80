"""RSH202, see `pages/RSH202.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, View, of_effects, rule
from reshardctl.diagnosis.rules.families import below_a_row, is_closed, waits_for_a_parent
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH202", "parent-abandoned")
def parent_abandoned(view: View) -> Iterator[Found]:
    """Error or warning: the shard's unread records are lost once they expire."""
    never = [
        e for e in view.harmed(Harm.STALLED, Cause.NO_POSITION)
        if not waits_for_a_parent(view, e.shard)
    ]
    too_late = [e for e in view.harmed(Harm.SKIPPED, Cause.REFILLED, Cause.LATEST) if not e.gone]
    effects = [
        e for e in (*never, *too_late)
        if is_closed(view, e.shard) and not below_a_row(view, e.shard)
    ]
    effects += [e for e in view.harmed(Harm.SKIPPED, Cause.TAKEN_FOR_READ) if not e.gone]
    probes = [view.state.probes.get(e.shard) for e in effects if e.shard is not None]
    seen = bool(probes) and all(probe is not None and probe.count for probe in probes)
    what = "closed, and nothing will read what is still unread"
    if seen:
        what = "closed with records left in it, and nothing will read them"
    costs = "the unread records are lost once they expire"
    yield from of_effects(effects, what, costs)
