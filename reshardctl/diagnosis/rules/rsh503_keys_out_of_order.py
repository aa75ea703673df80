"""RSH503, see `pages/RSH503.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.diagnosis.rules.sinks import Sink, in_order, many


@rule("RSH503", "keys-out-of-order")
def keys_out_of_order(sink: Sink) -> Iterator[Found]:
    """One warning over all shards; none if no column shows the order."""
    held = [inside for inside in sink.facts.shards.values() if inside.disordered]
    if held:
        rows = sum(inside.disordered or 0 for inside in held)
        by = f", by {sink.facts.ordered_by}" if sink.facts.ordered_by else ""
        yield Found(
            Severity.WARNING, in_order(sink.lineage, (inside.shard for inside in held)),
            f"{many(rows, 'row')} came after a later record of the same key{by}",
            helps="whether the consumer's next start does it again: reshardctl inspect",
        )
