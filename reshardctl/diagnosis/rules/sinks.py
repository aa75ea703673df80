"""What the rules on sinks see, and what several of them ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reshardctl.auditing.facts import Facts, Fault, Record
from reshardctl.diagnosis.rules.base import Found, Severity
from reshardctl.lineage import Lineage
from reshardctl.model import Cut, Frontier, Rank, ShardId, at_number


@dataclass(frozen=True, slots=True)
class Sink:
    """A sink as counted, with the stream's shards and, for a named consumer, its frontier.

    processed: what the consumer's store said of every shard before the sink was read. unread:
    shards of which its next start skips records, or which it never reads.
    """

    facts: Facts
    lineage: Lineage
    processed: Frontier | None = None
    consumer: str = ""
    unread: frozenset[ShardId] = frozenset()


def many(number: int, noun: str) -> str:
    """`1 record`, `1,204 records`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def in_order(lineage: Lineage, shards: Iterable[ShardId]) -> tuple[ShardId, ...]:
    """The shards, unlisted ones first, then parents before children."""
    wanted = set(shards)
    gone = sorted(shard for shard in wanted if shard not in lineage)
    return (*gone, *(shard for shard in lineage if shard in wanted))


def behind(cut: Cut, record: Record) -> bool:
    """Whether a cut is certainly before a record, so that the record is unread.

    Some stores name only the number of an aggregated record, for all of it: the same number is no
    difference.
    """
    if cut.rank is Rank.INSIDE and not cut.by_time:
        return cut.processed < int(record.number)
    return cut < at_number(record.number, record.sub)


def covers(cut: Cut, record: Record) -> bool:
    """Whether a record is certainly processed at a cut."""
    if cut.rank is Rank.INSIDE and not cut.by_time:
        return cut.processed >= int(record.number)
    return at_number(record.number) < cut


def with_faults(
    sink: Sink, facts: Mapping[Fault, str], costs: str, helps: str
) -> Iterable[Found]:
    """A finding for each of these faults that some row has."""
    for fault, what in facts.items():
        faulty = [group for group in sink.facts.unusable if group.fault is fault and group.rows]
        if not faulty:
            continue
        rows = sum(group.rows for group in faulty)
        samples = list(dict.fromkeys(text for group in faulty for text in group.samples))[:3]
        spelled = [_spelled(text, fault is Fault.ODD_LENGTH) for text in samples]
        such = f", such as {', '.join(spelled)}" if any(samples) else ""
        named = (group.shard for group in faulty if group.shard is not None)
        shards = in_order(sink.lineage, named)
        yield Found(
            Severity.WARNING, shards, f"{many(rows, 'row')}: {what}{such}", costs,
            helps=helps,
        )


def _spelled(text: str, counted: bool) -> str:
    """A text for a message: numbers whole, others quoted and shortened.

    counted: whether to add the number of digits, which a shortened number does not show.
    """
    if text.isdecimal():
        return f"{text} ({many(len(text), 'digit')})" if counted else text
    return f"“{text[:60]}{'…' if len(text) > 60 else ''}”"
