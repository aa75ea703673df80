"""The frontier that a sink proves: how far every shard is stored, without a gap and at most.

lo is the cut up to which nothing is missing, hi the last record; records in between are read again.
A shard is ended only if it is listed as closed, the stream was read to its end, and nothing of that
was missing.

As a file it is JSON, exactly, and is read strictly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.auditing.facts import Compared, Facts, InSink, Record
from reshardctl.codec.strict import JsonPath, array, list_of, mapping_of, members, string
from reshardctl.codec.values import cut_of_quiet_list, quiet_cut_list
from reshardctl.errors import Refused
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    Basis,
    Cut,
    Frontier,
    ShardId,
    Span,
    at_number,
    exactly,
    short,
)
from reshardctl.model.phrases import listed_shards

NAMED = 5
"""Shards that a message names before it counts the rest."""


class SinkFrontier(Struct, frozen=True):
    """A span for every shard that was listed when the sink was read. sink: as it was named."""

    sink: str
    spans: Frontier
    notes: tuple[str, ...] = ()


def sink_frontier_of(facts: Facts, lineage: Lineage, *, inside: bool) -> SinkFrontier:
    """The frontier.

    inside: whether the store holds positions inside an aggregated record, like KCL's.

    Raises Refused if the sink proves none: it has nothing of the stream, it changed while it was
    read, or nothing shows that its records are complete.
    """
    _usable(facts, lineage)
    counted = facts if inside else _of_whole_records(facts)
    spans = {shard: _span_of(counted, lineage, shard) for shard in lineage}
    unproven = [shard for shard, span in spans.items() if span is None]
    if unproven:
        raise Refused(
            f"{facts.sink}: nothing proves that its rows of {listed_shards(unproven, NAMED)} are "
            "complete: any record before the last one may be missing",
            "compare the sink with the stream (without --alone), which shows the first missing "
            "record; or start over and re-read everything: reshardctl fix CONSUMER --stream STREAM "
            "--bootstrap",
        )
    line = _gated(lineage, {s: span for s, span in spans.items() if span is not None})
    return SinkFrontier(facts.sink, line, (*_notes(facts, line), *_whole_only(facts, line, inside)))


def _usable(facts: Facts, lineage: Lineage) -> None:
    if facts.changed:
        raise Refused(
            f"{facts.sink} changed while it was read ({facts.changed}): something writes to it",
            "stop every process of the consumer, and run this again",
        )
    if not any(shard in lineage for shard in facts.shards):
        wrong = ", ".join(f"{fault.rows} rows: {fault.fault}" for fault in facts.unusable[:NAMED])
        raise Refused(
            f"{facts.sink} holds no row of a listed shard of stream {lineage.stream.name}"
            + (f" ({wrong})" if wrong else ""),
            "check the sink, its columns and --stream; for a consumer that has stored nothing "
            "yet: reshardctl fix CONSUMER --stream STREAM --bootstrap",
        )


def _of_whole_records(facts: Facts) -> Facts:
    """Facts for a store that only knows whole records.

    A record with a missing part is missing; the record before it was not noted.
    """
    return replace(
        facts,
        shards={s: _whole_inside(inside) for s, inside in facts.shards.items()},
        compared={s: _whole_compared(compared) for s, compared in facts.compared.items()},
    )


def _whole(record: Record | None) -> Record | None:
    return None if record is None else replace(record, sub=0)


def _whole_inside(inside: InSink) -> InSink:
    return replace(inside, last=replace(inside.last, sub=0), proven=_whole(inside.proven))


def _whole_compared(compared: Compared) -> Compared:
    before, first = compared.before_missing, compared.first_missing
    torn = before is not None and first is not None and before.number == first.number
    before = None if torn else _whole(before)
    return replace(compared, until=_whole(compared.until), before_missing=before)


def _span_of(facts: Facts, lineage: Lineage, shard: ShardId) -> Span | None:
    """One shard's span, `None` if it has rows and nothing proves that they are complete."""
    inside, compared = facts.shards.get(shard), facts.compared.get(shard)
    if compared is None or (compared.short and not compared.read):
        return _of_sink_alone(inside)
    if compared.missing:
        return _below_the_gap(compared, inside)
    if compared.ended and not lineage.is_open(shard):
        last = _last(compared, inside)
        over = DONE if last is None else replace(DONE, text=str(cut_of(last)))
        return exactly(over, Basis.PROBED, "read to its end: nothing is missing")
    quiet = None if compared.short else facts.taken
    if compared.until is not None:
        why = "nothing that was read is missing" + (f"; {compared.short}" if compared.short else "")
        return _up_to(_idle(cut_of(compared.until), quiet), inside, Basis.PROBED, why)
    if inside is None:
        return exactly(_idle(START, quiet), Basis.PROBED, "nothing to read and no row yet")
    why = "the stream has no record of it left, and later records follow its last row"
    return exactly(_idle(cut_of(inside.last), quiet), Basis.PROBED, why)


def _gated(lineage: Lineage, line: Mapping[ShardId, Span]) -> dict[ShardId, Span]:
    """The spans without a shard that ends before its parents.

    It gets its last record instead, so that its end still waits for its ancestors, and its
    descendants wait for it.
    """
    spans: dict[ShardId, Span] = {}
    for shard, span in line.items():
        ready = all(spans[p].lo == DONE for p in lineage.parents(shard) if p in spans)
        if span.lo == DONE and not ready:
            at = _place(span.lo)
            spans[shard] = exactly(at, span.basis, f"{span.why}; it ends after its parents")
        else:
            spans[shard] = span
    return spans


def _place(over: Cut) -> Cut:
    """The last record of an ended shard, its start if it has none."""
    number, _, sub = over.text.partition("/")
    return at_number(number, int(sub or 0)) if number else START


def _idle(cut: Cut, quiet: float | None) -> Cut:
    """The cut with the time as of which no record followed.

    A store that keeps the time distinguishes an idle shard from one whose records have expired.
    """
    return replace(cut, quiet=quiet)


def _of_sink_alone(inside: InSink | None) -> Span | None:
    if inside is None:
        return exactly(START, Basis.INFERRED, "no row of it: read from its beginning")
    if inside.proven is None:
        return None
    return _up_to(cut_of(inside.proven), inside, Basis.STORED, inside.proof)


def _below_the_gap(compared: Compared, inside: InSink | None) -> Span:
    """The span up to the record before the first missing one.

    A window that begins after expired records begins where the stream does: older records cannot be
    read any more.
    """
    if compared.before_missing is not None:
        why = f"{_records(compared.missing)} missing after it"
        return _up_to(cut_of(compared.before_missing), inside, Basis.PROBED, why)
    why = f"{_records(compared.missing)} missing, {_from_the_beginning(compared)}"
    return _up_to(START, inside, Basis.PROBED, why)


def _from_the_beginning(compared: Compared) -> str:
    first, since = compared.first_missing, compared.since
    if first is not None and since is not None and first.number != since.number:
        return "one in part, and the store keeps no position inside a record"
    if compared.whole:
        return "its first record among them"
    return "the oldest record left in the stream among them"


def _up_to(lo: Cut, inside: InSink | None, basis: Basis, why: str) -> Span:
    """The span from a proven cut to the last row."""
    last = lo if inside is None else cut_of(inside.last)
    return Span(lo, max(lo, last), basis, why)


def cut_of(record: Record) -> Cut:
    """The cut just after a record."""
    return at_number(record.number, record.sub)


def _last(compared: Compared, inside: InSink | None) -> Record | None:
    return compared.until or (inside.last if inside is not None else None)


def _records(count: int) -> str:
    return "1 record is" if count == 1 else f"{count} records are"


def _notes(facts: Facts, line: Mapping[ShardId, Span]) -> tuple[str, ...]:
    """What the frontier rests on, and what an operator has to know about it."""
    over = sum(span.lo == DONE for span in line.values())
    begun = sum(START < span.lo < DONE for span in line.values())
    gaps = [(s, span) for s, span in line.items() if s in facts.compared and not span.exact]
    notes = [
        f"positions from {facts.sink}, {facts.rows} rows"
        f"{', compared with the stream' if facts.compared else ', the stream was not read'}: "
        f"{over} of {len(line)} shards processed to their end, {begun} up to a record, "
        f"{len(line) - over - begun} not at all"
    ]
    notes += [
        f"shard {short(shard)}: {span.why}; its later records, up to {span.hi}, are re-read"
        for shard, span in gaps[:NAMED]
    ]
    if (more := len(gaps) - NAMED) > 0:
        notes.append(f"{more} more shards re-read later records")
    cut = [
        s for s, c in facts.compared.items()
        if s in line and not c.whole and c.before_missing is None and (c.missing or not c.read)
    ]
    if cut:
        notes.append(
            f"{listed_shards(cut, NAMED)}: records older than those that were read have expired; "
            "whether they were stored is unknown"
        )
    notes += [
        f"{bad.rows} rows of the sink are not counted ({bad.fault}): their records are missing"
        for bad in facts.unusable
    ]
    return tuple(notes)


def _whole_only(facts: Facts, line: Mapping[ShardId, Span], inside: bool) -> Iterator[str]:
    """Notes of the audit, and one on records of several parts.

    If the store keeps positions inside records and the sink does not, a consumer that continues
    after a record's first part reads the rest of it again.
    """
    yield from facts.notes
    if facts.notes and inside and any(START < span.lo < DONE for span in line.values()):
        yield (
            "if the record at which a shard continues is aggregated (KPL), all its parts but the "
            "first are re-read; --column sub=NAME shows which parts are stored"
        )


def line_json(line: SinkFrontier) -> dict[str, Any]:
    """The JSON form: {"sink", "notes", "spans": {shard: [lo, hi, basis, why]}}."""
    spans = {
        shard: [quiet_cut_list(span.lo), quiet_cut_list(span.hi), str(span.basis), span.why]
        for shard, span in line.spans.items()
    }
    return {"sink": line.sink, "notes": list(line.notes), "spans": spans}


def line(value: object, json_path: JsonPath) -> SinkFrontier:
    """Read what `line_json` wrote."""
    values = members(value, ("sink", "notes", "spans"), json_path)
    spans = mapping_of(values["spans"], json_path / "spans", _span)
    return SinkFrontier(
        string(values["sink"], json_path / "sink"),
        {ShardId(shard): span for shard, span in spans.items()},
        list_of(values["notes"], json_path / "notes", string),
    )


def _span(value: object, json_path: JsonPath) -> Span:
    parts = array(value, json_path)
    if len(parts) != 4 or parts[2] not in set(Basis):
        json_path.wrong("not the two ends of a span, how it is known and why")
    lo, hi = cut_of_quiet_list(parts[0], json_path / 0), cut_of_quiet_list(parts[1], json_path / 1)
    if hi < lo:
        json_path.wrong("its end lies before its beginning")
    return Span(lo, hi, Basis(parts[2]), string(parts[3], json_path / 3))
