"""RSH101, see `pages/RSH101.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity, View

CODE, NAME = "RSH101", "reshard-in-progress"


def match(view: View) -> Iterator[Finding]:
    """Info: the listing was consistent, and may change."""
    if view.lineage.stream.status == "UPDATING":
        what = "the stream is UPDATING: shards may still be split or merged"
        yield Finding(CODE, NAME, Severity.INFO, (), what, helps="look again with --wait 15m")
