"""RSH502, see `pages/RSH502.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.diagnosis.rules.sinks import Sink, in_order, many


@rule("RSH502", "records-doubled")
def records_doubled(sink: Sink) -> Iterator[Found]:
    """One warning over all shards."""
    held = [inside for inside in sink.facts.shards.values() if inside.doubled]
    if held:
        records = sum(inside.doubled for inside in held)
        extra = sum(inside.extra for inside in held)
        is_there = "is" if records == 1 else "are"
        yield Found(
            Severity.WARNING, in_order(sink.lineage, (inside.shard for inside in held)),
            f"{many(records, 'record')} {is_there} in the sink more than once: "
            f"{many(extra, 'row')} too many",
            helps="for a list of them: audit --rows DIR",
        )
