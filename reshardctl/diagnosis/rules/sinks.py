"""What the rules on sinks see, what several of them ask, and those on the sink's rows.

These are RSH502 to RSH504, RSH506, RSH507, RSH509 and RSH510.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from reshardctl.auditing.facts import Facts, Fault, InSink, Record
from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.lineage import Lineage
from reshardctl.model import Cut, Frontier, Rank, ShardId, at_number, time_of
from reshardctl.model.times import duration


class Sink(Struct, frozen=True):
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


OF_NO_SHARD = {
    Fault.OTHER_STREAM: "they name another stream",
    Fault.OTHER_INCARNATION: "their numbers are older than the stream: of an earlier one of its "
    "name",
    Fault.UNKNOWN_SHARD: "their shards are newer than the newest that is listed",
    Fault.NOT_ITS_SHARD: "the column for the shard names another one than the number does",
}
OF_NO_SHARD_HELPS = "check --stream and --column, or audit each stream by itself"


@rule("RSH504", "rows-of-no-shard")
def rows_of_no_shard(sink: Sink) -> Iterator[Found]:
    """One warning for each fault."""
    yield from with_faults(sink, OF_NO_SHARD, "they are not counted otherwise", OF_NO_SHARD_HELPS)


@rule("RSH506", "position-behind-sink")
def position_behind_sink(sink: Sink) -> Iterator[Found]:
    """One warning over all shards; silent without a consumer."""
    ahead: list[tuple[ShardId, Cut, InSink]] = []
    for shard in sink.lineage if sink.processed is not None else ():
        span = (sink.processed or {}).get(shard)
        inside = sink.facts.shards.get(shard)
        if span is not None and inside is not None and behind(span.hi, inside.last):
            ahead.append((shard, span.hi, inside))
    if ahead:
        yield Found(
            Severity.WARNING, tuple(shard for shard, _, _ in ahead),
            f"the sink is ahead of the stored position{_by_how_much(ahead)}",
            "what lies between is read and stored again at the next start",
            helps="nothing has to be done where the sink takes each record once",
        )


def _by_how_much(ahead: list[tuple[ShardId, Cut, InSink]]) -> str:
    """`, by 10m of stream time at most`: the largest difference of a shard; "" if none is known.

    It is between the last row and the stored position, or the first row where that is no number.
    """
    gaps = [
        then - since for _, cut, inside in ahead
        if (then := time_of(inside.last.number)) is not None
        and (since := time_of(cut.number) if cut.number else time_of(inside.first.number))
        is not None
    ]
    return f", by {duration(max(gaps))} of stream time at most" if gaps and max(gaps) > 0 else ""


AHEAD_HELPS = "for the positions that the sink proves: reshardctl rebuild"


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
            "the next start begins after them", helps=AHEAD_HELPS,
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


UNREADABLE = {
    Fault.NO_NUMBER: "they have no sequence number",
    Fault.NOT_NUMERIC: "what stands for the sequence number is no number",
    Fault.ODD_LENGTH: "the value for the sequence number does not have the 56 digits of one",
}
UNREADABLE_COSTS = "they may be records that count as missing otherwise"
UNREADABLE_HELPS = "for a list of them: audit --rows DIR; another column: --column number=COLUMN"


@rule("RSH509", "rows-unreadable")
def rows_unreadable(sink: Sink) -> Iterator[Found]:
    """One warning for each fault."""
    yield from with_faults(sink, UNREADABLE, UNREADABLE_COSTS, UNREADABLE_HELPS)


@rule("RSH510", "sink-changed-while-read")
def sink_changed_while_read(sink: Sink) -> Iterator[Found]:
    """One warning."""
    if sink.facts.changed:
        yield Found(
            Severity.WARNING, (),
            f"the sink changed while it was read: {sink.facts.changed}",
            "counts of this report may contradict each other",
            helps="stop what writes to it, and audit it again",
        )
