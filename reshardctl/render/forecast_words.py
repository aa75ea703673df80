"""Sentences about a forecast and a watch: which reshard was assumed, what was predicted."""

from __future__ import annotations

from reshardctl.diagnosis.evidence import Watched
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.model import ShardId
from reshardctl.model.times import duration
from reshardctl.render.words import count, judged, shards
from reshardctl.report.report import Report


def supposed(report: Report) -> str:
    """`if split=7 were done now`; "" where nothing is supposed."""
    forecast = report.snapshot.foreseen
    if forecast is None:
        return ""
    names = [str(reshard) for reshard in forecast.reshards]
    done = [f"a reshard to {word}" if word.isdigit() else word for word in names]
    return f"if {', then '.join(done)} were done now"


def locator_words(report: Report) -> str:
    """The locator, followed by the reshards that a forecast supposes."""
    forecast = report.snapshot.foreseen
    text = report.snapshot.locator.text
    return text if forecast is None else f"{text} [if {forecast.words()}]"


def happening(report: Report, verbose: bool = False) -> str:
    """Which shards the reshard closes and opens: `7 closes; 12, 13 open`."""
    forecast = report.snapshot.foreseen
    if forecast is None or not forecast.born:
        return "nothing changes, because the stream already has these shards"
    brief = [shard for shard in forecast.born if not forecast.lineage.is_open(shard)]
    parts = [_verb(forecast.closes, verbose, "closes", "close"),
             _verb(_stay(report), verbose, "opens", "open")]
    if brief:
        parts.append(f"{_verb(tuple(brief), verbose, 'opens', 'open')} in between, for seconds")
    return "; ".join(parts)


def _stay(report: Report) -> tuple[ShardId, ...]:
    forecast = report.snapshot.foreseen
    assert forecast is not None
    return tuple(shard for shard in forecast.born if forecast.lineage.is_open(shard))


def _verb(ids: tuple[ShardId, ...], verbose: bool, singular: str, plural: str) -> str:
    return f"{shards(ids, verbose)} {singular if len(ids) == 1 else plural}"


def already_so(report: Report, finding: Finding, verbose: bool) -> str:
    """Whether the finding is there without the reshard, as a sentence; "" if it is not."""
    now = None if report.already is None else report.already.get(finding.code)
    if now is None:
        return ""
    same = [shard for shard in finding.shards if shard in now]
    if len(same) == len(finding.shards):
        return "This is already the case without the reshard."
    return f"Already the case for {shards(same, verbose)} without the reshard." if same else ""


def is_already(report: Report, finding: Finding) -> bool:
    """Whether all of the finding is there without the reshard."""
    now = (report.already or {}).get(finding.code)
    return now is not None and set(finding.shards) <= now


def new_ones(report: Report) -> str:
    """How many of a forecast's findings are there without the reshard, as a sentence."""
    grave = [f for f in report.findings if f.severity > Severity.INFO]
    same = sum(is_already(report, f) for f in grave)
    if not grave:
        return ""
    if not same:
        return "None of it is the case without the reshard."
    number = "All of it" if same == len(grave) else str(same)
    return f"{number} already the case without the reshard."


def what_was_judged(report: Report) -> str:
    """One sentence or two: a start, a start after a reshard, or a start and what ran."""
    candidates = [j.candidate for j in report.judged]
    if not candidates:
        return ""
    if report.snapshot.foreseen is not None:
        return (
            f"This report predicts the first start after that reshard, for {judged(candidates)}. "
            "A consumer that keeps running starts the children itself, as far as its rows permit."
        )
    start = f"This report predicts the consumer's next start, for {judged(candidates)}."
    watched = report.snapshot.watched
    if watched is None:
        return f"{start} Whether the consumer is running was not checked."
    return f"{start} The watch: {seen(watched)}."


def seen(watched: Watched) -> str:
    """How many rows changed during a watch, in one sentence without its full stop."""
    length = duration(watched.seconds)
    if not watched.runs:
        return f"no row was renewed in {length} ({watched.excluded})"
    renewed = sum(row.renewed for row in watched.shards.values())
    moved = sum(row.moved for row in watched.shards.values())
    return (
        f"in {length} {renewed} of {count(len(watched.shards), 'row')} were renewed, "
        f"{moved} advanced"
    )
