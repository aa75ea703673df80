"""Each shard's life, its stored position, its neighbours and its fate, as text and as values.

The values are `reshardctl/explanation/1`, see `explanation.schema.json`. A shard has the members of
`reshardctl/status/1`; its neighbours, what is processed of it and what the next start does with it
stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from reshardctl.exit import Exit
from reshardctl.lineage import Lineage
from reshardctl.model import Cut, Delay, Fate, ShardId, Simulation, Span, WillRead, short
from reshardctl.model.times import duration, instant
from reshardctl.planning.case import Judged
from reshardctl.planning.effects import Effect
from reshardctl.planning.plan import processed_frontier
from reshardctl.render.content.report_json import (
    consumer_document,
    cut_document,
    effect_document,
    exit_json,
    stream_document,
)
from reshardctl.render.content.status import finding_document, shard_document, standing
from reshardctl.render.document import Json
from reshardctl.report.report import Report, case_of
from reshardctl.report.status import Explanation, ShardStatus


def explanations(shown: Explanation) -> Iterator[str]:
    """Lines on shards that the stream or the store knows, one after the other."""
    for index, shard in enumerate(shown.shards):
        if index:
            yield from ("", "")
        yield from _explanation(shown.report, shard, shown.statuses)


def _explanation(
    report: Report, shard: ShardId, statuses: Mapping[ShardId, ShardStatus]
) -> Iterator[str]:
    """Lines on one of them."""
    yield from _life(report.snapshot.lineage, shard, report.snapshot.now)
    yield ""
    yield from _place(report, shard)
    yield from _standing(statuses[shard], report.snapshot.now)
    yield from _neighbours(statuses[shard], statuses, report.snapshot.now)
    for lines, options in _starts(report, shard).items():
        yield ""
        yield f"next start ({'; or '.join(options)})"
        yield from (f"  {line}" for line in lines)
    named = [f for f in report.findings if shard in f.shards]
    if named:
        yield ""
        yield from (f"{f.severity}  {f.code} {f.name}: {f.what}" for f in named)


def _starts(report: Report, shard: ShardId) -> dict[tuple[str, ...], list[str]]:
    """What a start does with the shard → the options of the application under which it does."""
    options_of: dict[tuple[str, ...], list[str]] = {}
    for judged in report.judged:
        lines = (*_next(judged.simulation, shard), *_harms(judged.effects, shard))
        options = ", ".join(f"{n}={v}" for n, v in judged.candidate.options.items())
        options_of.setdefault(lines, []).append(options)
    return options_of


def _harms(effects: Iterable[Effect], shard: ShardId) -> Iterator[str]:
    for effect in effects:
        if effect.shard == shard:
            yield f"{effect.harm} ({'certain' if effect.certain else 'possible'}): {effect.why}"


def _life(lineage: Lineage, shard: ShardId, now: float) -> Iterator[str]:
    if shard not in lineage:
        yield f"{shard}   not listed (expired, or not created yet)"
        return
    listed = lineage[shard]
    yield f"{shard}   {'open' if listed.open else 'closed'}"
    opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
    if opened is not None:
        yield f"  opened    {instant(opened)}   {duration(now - opened)} ago"
    if closed is not None:
        expires = closed + lineage.stream.retention
        yield f"  closed    {instant(closed)}   {duration(now - closed)} ago"
        yield f"  expires   {instant(expires)}   in {duration(expires - now)}"
    yield f"  hash keys {listed.hash_start} – {listed.hash_end}"
    yield f"  parents   {_names(listed.parents) or 'none'}"
    yield f"  children  {_names(lineage.children(shard)) or 'none'}"


def _place(report: Report, shard: ShardId) -> Iterator[str]:
    span: Span | None = processed_frontier(case_of(report.snapshot, report.options)).get(shard)
    yield f"stored     {report.positions.get(shard, 'no position')}"
    if span is not None:
        upto = f"{span.lo}" if span.exact else f"between {span.lo} and {span.hi}"
        yield f"processed  {upto} ({span.basis}{': ' + span.why if span.why else ''})"


def _standing(row: ShardStatus, now: float) -> Iterator[str]:
    """Lag, owner and last progress, as `status` has them."""
    named = standing(row, now)
    yield f"lag        {named['lag']}"
    yield f"owner      {named['owner']}"
    yield f"progress   {named['progress']}"


def _neighbours(
    row: ShardStatus, statuses: Mapping[ShardId, ShardStatus], now: float
) -> Iterator[str]:
    """Parents and children: what holds the shard back, and what it holds back."""
    for word, shards in (("parent", row.parents), ("child", row.children)):
        for shard in shards:
            if shard not in statuses:
                yield f"{word:<10} {short(shard)}: not listed"
                continue
            named = standing(statuses[shard], now)
            yield (
                f"{word:<10} {named['shard']}: {named['state']}, position {named['position']}, "
                f"lag {named['lag']}, {named['found']}"
            )


def _next(run: Simulation, shard: ShardId) -> Iterator[str]:
    if run.crash is not None:
        yield f"never read: the whole consumer crashes: {run.crash.why}"
    elif shard in run.fates:
        yield from _fate(run.fates[shard])


def _fate(fate: Fate) -> Iterator[str]:
    if not isinstance(fate, WillRead):
        yield f"never read: {fate.why}"
        return
    yield f"reads from {_at(fate.at.lo)}: {fate.why}"
    if fate.after:
        yield f"after      {_names(tuple(sorted(fate.after)))} ended"
    if fate.delay != Delay():
        yield f"delay      {duration(fate.delay.least)} to {duration(fate.delay.most)}"
    if fate.possible:
        yield f"possibly   {fate.possible}"


def _at(cut: Cut) -> str:
    return {"START": "its beginning", "TIP": "its tip", "DONE": "its end"}.get(str(cut), str(cut))


def _names(shards: tuple[ShardId, ...]) -> str:
    return ", ".join(short(shard) for shard in shards)


EXPLANATION = "reshardctl/explanation/1"


def explanation_document(shown: Explanation, code: Exit) -> Json:
    """The whole document. code: what the command ends with."""
    report = shown.report
    return {
        "schema": EXPLANATION,
        "exit": exit_json(code),
        "taken": instant(report.snapshot.now),
        "stream": stream_document(report.snapshot.lineage),
        "consumer": consumer_document(report),
        "shards": [_one(report, shard, shown.statuses) for shard in shown.shards],
        "notes": list(report.notes),
    }


def _one(report: Report, shard: ShardId, statuses: Mapping[ShardId, ShardStatus]) -> Json:
    row = statuses[shard]
    near = dict.fromkeys((*row.parents, *row.children))
    return {
        **shard_document(row),
        "hash_range": _hash_range(report.snapshot.lineage, shard),
        "processed": None if row.processed is None else _span(row.processed),
        "neighbours": [
            shard_document(statuses[neighbour]) for neighbour in near if neighbour in statuses
        ],
        "starts": [_start(judged, shard) for judged in report.judged],
        "findings": [finding_document(f) for f in report.findings if shard in f.shards],
    }


def _hash_range(lineage: Lineage, shard: ShardId) -> list[str] | None:
    """First and last hash key; null for a shard that is not listed."""
    if shard not in lineage:
        return None
    listed = lineage[shard]
    return [str(listed.hash_start), str(listed.hash_end)]


def _start(judged: Judged, shard: ShardId) -> Json:
    """The next start under the options of one candidate."""
    run = judged.simulation
    return {
        "options": dict(judged.candidate.options),
        "crash": None if run.crash is None else run.crash.why,
        "fate": _fate_json(judged, shard),
        "effects": [effect_document(effect) for effect in judged.effects if effect.shard == shard],
    }


def _fate_json(judged: Judged, shard: ShardId) -> Json | None:
    """Null where the whole consumer crashes, or where nothing is foretold of the shard."""
    fate = judged.simulation.fates.get(shard)
    if fate is None or judged.simulation.crash is not None:
        return None
    if not isinstance(fate, WillRead):
        return {
            "reads": False, "from": None, "after": sorted(fate.waits_for), "delay_seconds": None,
            "why": fate.why, "possibly": None,
        }
    return {
        "reads": True, "from": cut_document(fate.at.lo), "after": sorted(fate.after),
        "delay_seconds": [fate.delay.least, fate.delay.most], "why": fate.why,
        "possibly": fate.possible or None,
    }


def _span(span: Span) -> Json:
    return {
        "from": cut_document(span.lo), "until": cut_document(span.hi), "basis": str(span.basis),
        "why": span.why,
    }
