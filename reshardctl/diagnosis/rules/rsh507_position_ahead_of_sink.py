"""RSH507, see `pages/RSH507.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.diagnosis.rules.sinks import Sink, covers
from reshardctl.model import Cut, Rank, ShardId

HELPS = "for the positions that the sink proves: reshardctl rebuild"


@rule("RSH507", "position-ahead-of-sink")
def position_ahead_of_sink(sink: Sink) -> Iterator[Found]:
    """What the stream shows, then what only the numbers show."""
    if sink.processed is None:
        return
    shards = [shard for shard in sink.lineage if shard in sink.processed]
    shown = [s for s in shards if _acknowledged(sink, s, sink.processed[s].lo)]
    if shown:
        yield Found(
            Severity.ERROR, tuple(shown),
            "records of the stream were acknowledged and are not in the sink",
            "the next start begins after them", helps=HELPS,
        )
    perhaps = [s for s in shards if s not in shown and _ahead(sink, s, sink.processed[s].lo)]
    if perhaps:
        yield Found(
            Severity.WARNING, tuple(perhaps),
            "the stored position is ahead of the sink",
            "what lies between was acknowledged and perhaps never stored",
            helps="whether a record lies between: audit without --alone",
        )


def _acknowledged(sink: Sink, shard: ShardId, lo: Cut) -> bool:
    compared = sink.facts.compared.get(shard)
    first = None if compared is None else compared.first_missing
    return first is not None and covers(lo, first)


def _ahead(sink: Sink, shard: ShardId, lo: Cut) -> bool:
    """Whether a number is ahead of the sink; end marks and starts by time always are."""
    if lo.rank is not Rank.INSIDE or lo.by_time:
        return False
    inside = sink.facts.shards.get(shard)
    if inside is not None and int(inside.last.number) >= lo.number:
        return False
    return not _refuted(sink, shard, lo)


def _refuted(sink: Sink, shard: ShardId, lo: Cut) -> bool:
    """Whether the stream was read from the sink's last row to the position, without a record."""
    compared = sink.facts.compared.get(shard)
    if compared is None or compared.short:
        return False
    inside = sink.facts.shards.get(shard)
    since = compared.since
    begins = compared.whole or (
        inside is not None and since is not None and int(since.number) <= int(inside.last.number)
    )
    until = compared.until
    reaches = compared.tip or compared.ended or (
        until is not None and int(until.number) >= lo.number
    )
    return begins and reaches
