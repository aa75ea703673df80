"""RSH231, see `pages/RSH231.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, rule
from reshardctl.model import Cause
from reshardctl.planning.effects import Harm


@rule("RSH231", "dies-after-reshard")
def dies_after_reshard(view: View) -> Iterator[Found]:
    """Error: nothing is read until the closed shards are no longer listed."""
    crash = view.simulation.crash
    if crashes := tuple(view.harmed(Harm.CRASHES, Cause.KNOWN_CHILD)):
        assert crash is not None
        yield Found(
            Severity.ERROR, crash.by,
            "closed shards are listed together with their children, which crashes this release",
            f"{crash.why}; so at every start until {crash.until}", crashes,
            helps="deleting or resetting the source does not help; release 0.9.0 starts",
        )
