"""RSH101, see `pages/RSH101.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, View, rule


@rule("RSH101", "reshard-in-progress")
def reshard_in_progress(view: View) -> Iterator[Found]:
    """Info: the listing was consistent, and may change."""
    if view.lineage.stream.status == "UPDATING":
        what = "the stream is UPDATING: shards may still be split or merged"
        yield Found(Severity.INFO, (), what, helps="look again with --wait 15m")
