"""RSH505, see `pages/RSH505.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.diagnosis.rules.sinks import Sink, many
from reshardctl.model import ShardId


@rule("RSH505", "shard-without-rows")
def shard_without_rows(sink: Sink) -> Iterator[Found]:
    """A warning where the stream shows records, or the sink is empty; else info."""
    facts = sink.facts
    bare = [shard for shard in sink.lineage if shard not in facts.shards]
    if not facts.rows:
        yield Found(
            Severity.WARNING, (), "the sink holds no row at all",
            helps="check its path, and whether something writes to it",
        )
    full = [s for s in bare if s in facts.compared and facts.compared[s].read]
    if full:
        read = sum(facts.compared[shard].read for shard in full)
        yield Found(
            Severity.WARNING, tuple(full),
            f"the sink has no row, and the stream has {many(read, 'record')}",
            helps="whether the consumer reads them: reshardctl inspect",
        )
    quiet = [shard for shard in bare if shard not in full and not _seen_empty(sink, shard)]
    if quiet and facts.rows:
        yield from _quiet(sink, quiet)


def _quiet(sink: Sink, shards: list[ShardId]) -> Iterator[Found]:
    """Findings of shards of which all that is left was read, and of others."""
    read = [shard for shard in shards if _read_whole(sink, shard)]
    left = [shard for shard in shards if shard not in read]
    if read:
        yield Found(
            Severity.INFO, tuple(read),
            "the sink has no row, and the stream has no record any more",
        )
    if left and sink.facts.compared:
        yield Found(
            Severity.INFO, tuple(left),
            "the sink has no row, and of the stream not all was read that it may have of them",
            helps="without --since and --until all of it is read",
        )
    elif left:
        yield Found(
            Severity.INFO, tuple(left), "the sink has no row: idle, or not read",
            helps="whether they are idle: audit without --alone",
        )


def _read_whole(sink: Sink, shard: ShardId) -> bool:
    """Whether all records that the stream still has of the shard were read."""
    facts, compared = sink.facts, sink.facts.compared.get(shard)
    windowed = facts.since is not None or facts.until is not None
    return compared is not None and not compared.short and not windowed


def _seen_empty(sink: Sink, shard: ShardId) -> bool:
    """Whether the whole shard was read, from its beginning, and had no record."""
    compared = sink.facts.compared.get(shard)
    if compared is None or not compared.whole or compared.short:
        return False
    return compared.ended or compared.tip
