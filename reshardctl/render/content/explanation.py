"""Each shard's life, its stored position, its neighbours and its fate, as text and as values.

The values are `reshardctl/explanation/1`, see `explanation.schema.json`. A shard has the members of
`reshardctl/status/1`; its neighbours, what is processed of it and what the next start does with it
stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from reshardctl.consumers.base import Candidate
from reshardctl.exit import Exit
from reshardctl.lineage import Lineage
from reshardctl.model import Cut, Delay, Fate, Rank, ShardId, Span, WillRead, short
from reshardctl.model.times import duration, instant
from reshardctl.planning.case import Judged
from reshardctl.planning.effects import Harm
from reshardctl.planning.plan import Plan, processed_frontier
from reshardctl.render.content.findings import title
from reshardctl.render.content.report_json import (
    consumer_document,
    cut_document,
    effect_document,
    exit_json,
    stream_document,
)
from reshardctl.render.content.status import standing
from reshardctl.render.content.status_json import finding_document, shard_document
from reshardctl.render.document import Json
from reshardctl.render.sheet import Sheet
from reshardctl.render.words import command, dry_run, only_with
from reshardctl.report.next_start import Begins, NextStart, starts_of
from reshardctl.report.report import Report, case_of
from reshardctl.report.status import Explanation, ShardState, ShardStatus

BESIDE = 11
"""Columns of a label in front of what is said, with the space after it."""


def explanation_text(sheet: Sheet, shown: Explanation) -> None:
    """What is known of each shard, one after the other, and what to run next."""
    frontier = processed_frontier(case_of(shown.report.snapshot, shown.report.options))
    starts = [(judged, starts_of(judged, frontier)) for judged in shown.report.judged]
    for index, shard in enumerate(shown.shards):
        if index:
            sheet.blank()
        _shard(sheet, shown, shard, starts, frontier.get(shard))
    sheet.blank()
    for words in _next_commands(shown, sheet.context.suggested_command):
        sheet.command(words)


def _next_commands(shown: Explanation, consumer: Sequence[str]) -> Iterator[list[str]]:
    """What a code means, and then the fix, or else what is known of the whole consumer."""
    named = [code for shard in shown.shards for code in shown.statuses[shard].rules[:1]]
    if named:
        yield command("rule", named[0])
    bad = any(shown.statuses[shard].bad for shard in shown.shards)
    redacted = shown.report.options.redacted
    if bad and isinstance(shown.report.decision, Plan) and not redacted:
        yield dry_run(shown.report, consumer)
    else:
        yield command("inspect" if named else "status", *consumer)


def _shard(
    sheet: Sheet, shown: Explanation, shard: ShardId,
    starts: Sequence[tuple[Judged, Mapping[ShardId, NextStart]]], span: Span | None,
) -> None:
    """One of them."""
    report, now = shown.report, shown.report.snapshot.now
    _life(sheet, report.snapshot.lineage, shown.statuses[shard], now)
    sheet.blank()
    for label, text in _place(report, shard, span):
        sheet.hanging(label, text, beside=BESIDE)
    for label, text in (
        *_standing(shown.statuses[shard], now),
        *_neighbours(shown.statuses[shard], shown.statuses, now),
    ):
        sheet.hanging(label, text, beside=BESIDE)
    for told in _told(shard, starts):
        only = only_with(told.candidates, [judged.candidate for judged, _ in starts])
        sheet.blank()
        sheet.hanging("", f"next start ({only})" if only else "next start")
        for line in told.lines():
            sheet.hanging("", line, indent=2)
    named = [f for f in report.findings if shard in f.shards]
    sheet.blank()
    for finding in named:
        sheet.hanging(str(finding.severity), f"{title(finding)}: {finding.what}", beside=BESIDE)


class _Told(Struct):
    """Starts that do the same with a shard, for whatever reasons and after whatever delays."""

    what: str
    more: tuple[str, ...]
    reasons: dict[str, None]
    delays: list[Delay]
    candidates: list[Candidate]

    def lines(self) -> Iterator[str]:
        yield f"{self.what}: {'; or '.join(self.reasons)}"
        if any(delay != Delay() for delay in self.delays):
            least = min(delay.least for delay in self.delays)
            yield f"delay: {duration(least)} to {duration(max(d.most for d in self.delays))}"
        yield from self.more


def _told(
    shard: ShardId, starts: Iterable[tuple[Judged, Mapping[ShardId, NextStart]]]
) -> Iterable[_Told]:
    """What starts do with the shard, those together that agree."""
    found: dict[tuple[str, ...], _Told] = {}
    for judged, begins in starts:
        run, fate = judged.simulation, judged.simulation.fates.get(shard)
        if fate is None:
            continue
        what, why, more = _does(fate, begins[shard]), fate.why, list[str]()
        if run.crash is not None:
            what, why = "the whole consumer crashes", run.crash.why
        else:
            more += _consequences(judged, fate, begins[shard], shard)
        told = found.setdefault((what, *more), _Told(what, tuple(more), {}, [], []))
        told.reasons[why] = None
        told.delays.append(fate.delay if isinstance(fate, WillRead) else Delay())
        told.candidates.append(judged.candidate)
    return found.values()


_UNLISTED = {
    ShardState.UNBORN: "unborn: it does not exist yet",
    ShardState.TRIMMED: "trimmed: it is not listed any more",
}


def _life(sheet: Sheet, lineage: Lineage, row: ShardStatus, now: float) -> None:
    shard = row.shard
    if row.state in _UNLISTED:
        sheet.hanging("", f"{shard}   {_UNLISTED[row.state]}")
        return
    listed = lineage[shard]
    sheet.hanging("", f"{shard}   {'open' if listed.open else 'closed'}")
    rows = [
        ("hash keys", f"{listed.hash_start} – {listed.hash_end}"),
        ("parents", _names(listed.parents) or "none"),
        ("children", _names(lineage.children(shard)) or "none"),
    ]
    opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
    if closed is not None:
        expires = closed + lineage.stream.retention
        rows.insert(0, ("expires", f"{instant(expires)}, in {duration(expires - now)}"))
        rows.insert(0, ("closed", f"{instant(closed)}, {duration(now - closed)} ago"))
    if opened is not None:
        rows.insert(0, ("opened", f"{instant(opened)}, {duration(now - opened)} ago"))
    for label, text in rows:
        sheet.hanging(label, text, indent=2, beside=BESIDE)


def _place(report: Report, shard: ShardId, span: Span | None) -> Iterator[tuple[str, str]]:
    stored = report.positions.get(shard, "no position")
    yield "stored", stored
    if span is not None:
        same = span.exact and str(span.lo) == stored
        upto = f"{span.lo}" if span.exact else f"between {span.lo} and {span.hi}"
        basis = f"({span.basis}{': ' + span.why if span.why else ''})"
        yield "processed", f"up to there {basis}" if same else f"{upto} {basis}"


def _standing(row: ShardStatus, now: float) -> Iterator[tuple[str, str]]:
    """Lag, owner and last progress, as `status -v` has them."""
    named = standing(row, now)
    for label in ("lag", "owner", "progress"):
        yield label, named[label]


def _neighbours(
    row: ShardStatus, statuses: Mapping[ShardId, ShardStatus], now: float
) -> Iterator[tuple[str, str]]:
    """Parents and children: what holds the shard back, and what it holds back."""
    for word, shards in (("parent", row.parents), ("child", row.children)):
        for shard in shards:
            if shard not in statuses:
                yield word, f"{short(shard)}: not listed"
                continue
            named = standing(statuses[shard], now)
            yield word, (
                f"{named['shard']}: {named['state']}, position {named['position']}, "
                f"lag {named['lag']}, {named['found']}"
            )


def _consequences(judged: Judged, fate: Fate, start: NextStart, shard: ShardId) -> Iterator[str]:
    """What follows, with the reasons that were not told yet."""
    if start.waits_for:
        yield f"waits for {_names(start.waits_for)}"
    possible = fate.possible if isinstance(fate, WillRead) else ""
    if possible:
        yield f"possibly: {possible}"
    reasons: dict[str, list[str]] = {}
    for effect in judged.effects:
        if effect.shard != shard:
            continue
        said = effect.why in (fate.why, possible)
        if said and effect.harm is Harm.STALLED and start.begins is Begins.NEVER:
            continue
        certain = "certain" if effect.certain else "possible"
        harms = reasons.setdefault("" if said else effect.why, [])
        word = "never read" if effect.harm is Harm.STALLED else effect.harm
        harms.append(f"{word} ({certain})")
    for why, harms in reasons.items():
        yield f"{', '.join(harms)}{': ' if why else ''}{why}"


def _does(fate: Fate, start: NextStart) -> str:
    """`reads from its beginning`, `finished`; `never read` is what is lost, and nothing else."""
    unread = {Begins.FINISHED: "finished", Begins.LEFT: "not read"}
    if start.begins in unread:
        return unread[start.begins]
    if isinstance(fate, WillRead) and fate.at.lo.rank is not Rank.DONE:
        return f"reads from {_at(fate.at.lo)}"
    return "never read" if start.begins is Begins.NEVER else "perhaps never read"


def _at(cut: Cut) -> str:
    if cut.by_time:
        return "the application's time" if cut.time is None else instant(cut.time)
    return {"START": "its beginning", "TIP": "its tip"}.get(str(cut), str(cut))


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
