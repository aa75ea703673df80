"""RSH216, see `pages/RSH216.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, rule
from reshardctl.planning.drained import drained_unended


@rule("RSH216", "drained-not-ended")
def drained_not_ended(view: View) -> Iterator[Found]:
    """Warning: the children wait for an end that should be stored, as a read shows."""
    if shards := drained_unended(view.state, view.simulation):
        yield Found(
            Severity.WARNING, tuple(shards),
            "closed and read to the last record, but not marked as ended",
            "the children wait for that end; if the application never sets it, they wait again "
            "after every reshard",
            helps="if it returns, the application does not checkpoint when a shard ends",
        )
