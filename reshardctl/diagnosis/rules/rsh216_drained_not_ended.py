"""RSH216, see `pages/RSH216.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View
from reshardctl.planning.drained import drained_unended

CODE, NAME = "RSH216", "drained-not-ended"


def match(view: View) -> Iterator[Finding]:
    """Warning: the children wait for an end that should be stored, as a read shows."""
    if shards := drained_unended(view.state, view.simulation):
        yield Finding(
            CODE, NAME, Severity.WARNING, tuple(shards),
            "closed and read to the last record, but not marked as ended",
            "the children wait for that end; if the application never sets it, they wait again "
            "after every reshard",
            helps="if it returns, the application does not checkpoint when a shard ends",
        )
