"""RSH233, see `pages/RSH233.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, rule
from reshardctl.model import Cause


@rule("RSH233", "may-never-commit")
def may_never_commit(view: View) -> Iterator[Found]:
    """Warning: a race, which a read that finds the shards drained rules out."""
    for risk in view.simulation.risks:
        if risk.cause not in (Cause.BACKFILL, Cause.LIVELOCK):
            continue
        probes = view.state.probes
        drained = {s for s in risk.shards if s in probes and probes[s].drained}
        if risk.cause is Cause.LIVELOCK and drained == set(risk.shards):
            continue
        yield Found(
            Severity.WARNING, risk.shards,
            "the source may fail again and again before anything is committed", risk.why,
            helps=risk.helps,
        )
