"""`audit`: compares what a sink holds with what is listed, stored and in the stream.

What to do next is told in complete commands, the most urgent first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.argv import given, option, words
from reshardctl.commands.exclusions import require_compatible
from reshardctl.commands.inspect import failing
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.requests import REACHED, Sink
from reshardctl.commands.target import Selection
from reshardctl.diagnosis.rules import Severity
from reshardctl.errors import CannotTell, UsageError
from reshardctl.exit import Exit
from reshardctl.model.times import When, instant, parse_when
from reshardctl.report.audit import AuditReport, Way
from reshardctl.report.forecast import aid_for

if TYPE_CHECKING:
    from reshardctl.commands.count_sink import Counted
    from reshardctl.commands.requests import Account
    from reshardctl.lineage import Lineage
    from reshardctl.model import ShardId
    from reshardctl.report.audit import AuditReport, Stored
    from reshardctl.report.report import Report


def without_password(consumer: str) -> str:
    """A consumer as it may be shown. UsageError if it is neither locator nor name."""
    from reshardctl.commands.named import is_snapshot
    from reshardctl.consumers.locator import looks_like_one, parse

    named = is_snapshot(consumer) or not looks_like_one(consumer)
    return consumer if named else parse(consumer).text


@dataclass(frozen=True, slots=True)
class AuditRequest(Selection):
    """Which sink to count, and what to compare it with. Times are spelled as the options are."""

    sink: Sink
    """What a consumer wrote, and which Spark reads it."""
    consumer: str | None = option("--consumer", spell=without_password)
    """The consumer whose stored positions are compared, as for `inspect`."""
    since: str | None = option("--since")
    """Arrival time from which the stream is compared: a time, `-90m` or `@reshard`."""
    until: str | None = option("--until")
    """Arrival time up to which the stream is compared."""
    keys: bool = option("--keys", False)
    """Whether to count the partition keys that lack most records."""
    rows: str | None = option("--rows")
    """A new directory, into which Spark writes the faulty rows as Parquet."""

AGAIN = (
    "--stream", "--consumer", "--form", "--column", "--since", "--until", "--master", "--remote",
    "--config", "--against-stream", *REACHED,
)
"""The options that say which audit it is."""


def arguments(wanted: AuditRequest) -> tuple[str, ...]:
    """The words of the same audit after `audit`, without a password."""
    return (wanted.sink.path, *words(wanted, AGAIN))


class Subject(Struct, frozen=True):
    """The stream, how it is reached, and what a consumer has stored of it."""

    lineage: Lineage
    account: Account
    now: float
    stored: Stored | None = None
    words: tuple[str, ...] = ()
    """The arguments that name the consumer to other commands; none if it cannot be written."""


def audit(wanted: AuditRequest, observer: Observer = SILENT) -> AuditReport:
    """Reads, counts and judges. Writes nothing to sink or store.

    UsageError for a request that cannot be met, before Spark starts; CannotTell for a stream, store
    or sink that cannot be read.
    """
    from reshardctl.commands import count_sink
    from reshardctl.report.audit import judge_sink

    require_compatible(given(wanted), "--keys", "--since", "--until")
    window = _window(wanted)
    count_sink.check(wanted.sink, wanted.rows)
    count_sink.check_installed(wanted.sink)
    subject = _subject(wanted, observer)
    since, until = (_moment(when, subject) for when in window)
    if since is not None and until is not None and since >= until:
        raise UsageError(
            f"--since {instant(since)} is not before --until {instant(until)}",
            "give a stretch of time",
        )
    counted = count_sink.count(
        wanted.sink, subject.lineage, subject.account, observer, since, until
    )
    report = _with_extras(
        judge_sink(counted.facts, subject.lineage, subject.stored), wanted, counted
    )
    compared = dataclasses.replace(wanted, sink=dataclasses.replace(wanted.sink, against=True))
    found_ways = ways(
        report, arguments(wanted), arguments(compared), words(compared.sink), subject.words,
        until=wanted.until is not None,
    )
    return replace(report, ways=tuple(found_ways))


def _with_extras(report: AuditReport, wanted: AuditRequest, counted: Counted) -> AuditReport:
    """The report with keys and rows. What fails there is named: counting may have taken hours."""
    lacking: list[str] = []
    if wanted.keys:
        with _noted(lacking):
            report = replace(report, keys=counted.keys())
    if wanted.rows is not None:
        with _noted(lacking):
            report = replace(report, saved=counted.save(wanted.rows))
    return replace(report, lacking=tuple(lacking))


@contextmanager
def _noted(lacking: list[str]) -> Iterator[None]:
    """A context whose failure is a sentence of the report."""
    try:
        yield
    except CannotTell as error:
        lacking.append(f"{error.what} ({error.next}; exit 3)")


def exit_of(report: AuditReport, fail_on: Severity | None = Severity.ERROR) -> Exit:
    """UNKNOWN if the stream was read only in part or a result is lacking; FINDINGS by severity."""
    if report.failed or report.lacking:
        return Exit.UNKNOWN
    return Exit.FINDINGS if failing(report.findings, fail_on) else Exit.OK


def _window(wanted: AuditRequest) -> tuple[When | None, When | None]:
    since = None if wanted.since is None else parse_when(wanted.since, "--since")
    return since, None if wanted.until is None else parse_when(wanted.until, "--until")


def _moment(when: When | None, subject: Subject) -> float | None:
    from reshardctl.snapshot.resolve import resharded_at

    if when is None:
        return None
    if when.reshard:
        try:
            return resharded_at(subject.lineage)
        except UsageError as error:
            raise UsageError(error.what, "give a time: 2026-09-22T09:14:00Z or -90m") from None
    return when.at if when.at is not None else float(int(subject.now - (when.ago or 0.0)))


def _subject(wanted: AuditRequest, observer: Observer) -> Subject:
    """The stream and the stored positions.

    Positions are read before the sink, so no later write of the consumer can be missing from the
    sink.
    """
    from reshardctl.commands.connect import listed

    if wanted.consumer is None:
        if wanted.stream is None:
            raise UsageError("--stream is missing", "add --stream NAME or --stream ARN")
        observer.phase(f"listing the shards of {wanted.stream}", logged=True)
        lineage, now = listed(wanted.account, wanted.stream, observer)
        return Subject(lineage, wanted.account, now)
    shown = without_password(wanted.consumer)
    observer.phase(f"reading the positions of {shown}", logged=True)
    return _stored(wanted, wanted.consumer, observer)


def _unread(report: Report) -> frozenset[ShardId]:
    """Shards of which the next start skips records, or which it never reads, as `inspect` says."""
    from reshardctl.planning.effects import Harm

    if any(judged.simulation.crash is not None for judged in report.judged):
        return frozenset(report.snapshot.lineage)
    harms = (Harm.SKIPPED, Harm.STALLED)
    return frozenset(
        effect.shard for judged in report.judged for effect in judged.effects
        if effect.harm in harms and effect.shard is not None
    )


def _stored(wanted: AuditRequest, consumer: str, observer: Observer) -> Subject:
    from reshardctl.commands.named import is_snapshot, one
    from reshardctl.commands.places import account_of
    from reshardctl.commands.survey import survey
    from reshardctl.planning.plan import processed_frontier
    from reshardctl.report.audit import Stored
    from reshardctl.report.report import case_of

    if is_snapshot(consumer) and wanted.sink.against:
        raise UsageError(
            "a snapshot has no records to compare a sink with", "add --alone"
        )
    target = one(consumer, wanted, observer)
    report = survey(target.ports(), target.stream, target.locator, target.repair_options)
    snapshot = report.snapshot
    processed = processed_frontier(case_of(snapshot, report.options))
    named = target.locator.text if target.entry is None else target.entry.name
    account = wanted.account
    if target.entry is not None:
        account = account_of(target.entry.stream.reach, account)
    stored = Stored(named, processed, report.positions, _unread(report))
    argv = () if is_snapshot(consumer) else target.argv
    return Subject(snapshot.lineage, account, snapshot.now, stored, argv)


US = "reshardctl"
ROWS = "offending-rows"
LISTED = frozenset({"RSH501", "RSH502", "RSH503", "RSH504", "RSH509"})
"""Findings whose rows `--rows` has."""
OF_A_START = frozenset({"RSH503", "RSH505", "RSH506"})
"""Findings that the consumer's next start may repeat or explain."""


def ways(
    report: AuditReport, again: Sequence[str], compared: Sequence[str], rebuild: Sequence[str],
    consumer: Sequence[str], *, until: bool,
) -> Iterator[Way]:
    """The commands as arguments.

    again: names this audit to `audit`; compared: the same, with the stream; rebuild: names its sink
    to `rebuild`, which reads the stream; consumer: names the consumer to other commands, empty if
    nothing can be written. until: whether the audit's window has an end.
    """
    grave = {f.code for f in report.findings if f.severity > Severity.INFO}
    lost = any(f.code == "RSH501" and f.severity is Severity.ERROR for f in report.findings)
    aid = aid_for(report.lineage.stream, report.findings, report.facts.taken)
    if aid is not None:
        yield Way(aid.argv(), "gives time: keeps records longer, costs money")
    if LISTED & grave and not report.saved:
        yield Way((US, "audit", *again, "--rows", ROWS), "the rows, as tables")
    if consumer and (lost or "RSH507" in grave):
        yield Way(
            (US, "rebuild", *consumer, *rebuild, "--dry-run"), "the positions that the sink proves"
        )
    if consumer and (lost or OF_A_START & grave):
        yield Way((US, "inspect", *consumer), "what the next start reads and skips")
    if not report.against_stream:
        yield Way((US, "audit", *compared), "are records missing? reads the stream")
    elif "RSH510" in grave and not until:
        yield Way((US, "audit", *again, "--until=-1h"), "a window that nothing writes to any more")
    worst = [f.code for f in report.findings if f.severity > Severity.INFO]
    if worst:
        yield Way((US, "rule", worst[0]), "what this means")
