"""`status`: each shard with its position, lag, owner, progress and verdict. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.argv import option, words
from reshardctl.commands.inspect import failing
from reshardctl.commands.named import one
from reshardctl.commands.observer import SILENT, FailOn, Observer, Threshold
from reshardctl.commands.survey import survey, telling_unfinished
from reshardctl.commands.target import FilesSelection, Target
from reshardctl.diagnosis.rules.base import sift
from reshardctl.errors import ReshardError, UsageError
from reshardctl.exit import Exit
from reshardctl.model.shards import parts_of
from reshardctl.report.lag import unread_intervals
from reshardctl.report.report import Report, make, places_to_probe
from reshardctl.report.status import COLUMNS, ConsumerStatus, StatusSelection, status_of
from reshardctl.snapshot import counted, probed

READING = frozenset({"records", "bytes"})
"""Columns that are empty unless records are read."""


@dataclass(frozen=True, slots=True)
class StatusRequest(FilesSelection):
    """Whose status to show, and which rows of it. Texts are spelled as the options are."""

    consumer: str
    """A locator, a name in reshardctl.toml, or `snapshot:FILE`."""
    only_bad: bool = False
    """Whether only shards are shown that an error or a warning names."""
    sort: str = "verdict"
    """The column by which rows are sorted, the worst first."""
    by_worker: bool = False
    """Whether a row is a worker with its shards, instead of a shard."""
    count: bool = option("--count", False)
    """Whether to count the unread records of every shard, which reads all of them."""
    fail_on: Threshold = FailOn.AS_CONFIGURED
    """The severity from which the result's `exit` is `FINDINGS`; `None` for never. By default what
    reshardctl.toml says of the consumer, or `Severity.ERROR`."""


class StatusResult(Struct, frozen=True):
    """The result of `status`.

    words: the arguments that name the consumer to other commands. name: its locator, or its name in
    reshardctl.toml. report: what the verdicts come from, without suppressed findings.
    """

    status: ConsumerStatus
    exit: Exit
    words: tuple[str, ...]
    name: str
    report: Report


def status(request: StatusRequest, observer: Observer = SILENT) -> StatusResult:
    """Reads a consumer and its stream, and brings what is known of each shard together.

    The verdicts are those of `inspect`. Raises UsageError before anything is called, or for a shard
    that neither the stream nor the store knows.
    """
    target = one(request.consumer, request, observer)
    selection = _selection(request, target)
    name = target.locator.text if target.entry is None else target.entry.name
    try:
        report = telling_unfinished(_measured(target, request.count), target)
    except ReshardError as error:
        error.unjudged = (target.stream, name)
        raise
    sifted = sift(report.findings, target.suppressions, report.snapshot.now)
    kept = replace(report, findings=sifted.kept)
    shown = status_of(kept, sifted.kept, selection, len(sifted.hidden), name)
    if request.count:
        own = ("--count",) if "--probe-budget" in target.argv else ("--count", "--probe-budget")
        shown = replace(shown, reading=words(request, own))
    threshold = target.severity(request.fail_on)
    code = report.exit(failing(shown.findings, threshold))
    return StatusResult(shown, code, target.argv, name, kept)


def _selection(request: StatusRequest, target: Target) -> StatusSelection:
    if request.sort not in COLUMNS:
        raise UsageError(
            f"--sort {request.sort}: there is no such column", f"there are {', '.join(COLUMNS)}"
        )
    if request.sort in READING and not (request.count or target.probe):
        raise UsageError(
            f"--sort {request.sort} has nothing to sort by: no records are read",
            "add --count, or --probe for at most 100 records of each shard",
        )
    if request.by_worker and not target.locator.spec.owner_attributes:
        raise UsageError(
            f"--by worker: {target.locator.text} is a store without owners",
            "leave --by out: a row for each shard",
        )
    return StatusSelection(
        parts_of(request.selectors), request.only_bad, request.sort, request.by_worker
    )


def _measured(target: Target, count: bool) -> Report:
    """The report, with the lag of every shard read where that is asked for.

    A probe reads as `inspect --probe` does, and the unread shards besides, within one budget. A
    snapshot has what was probed when it was taken, and nothing to count.
    """
    ports = target.ports()
    live_probe = target.probe and not target.offline
    probe = target.probe and target.offline
    report = survey(ports, target.stream, target.locator, target.repair_options, probe)
    if live_probe:
        places = dict(places_to_probe(report))
        places = {i.shard: i.since for i in unread_intervals(report)} | places
        if places:
            snapshot = probed(report.snapshot, ports.kinesis, places.items())
            report = make(snapshot, report.options)
    if count and (intervals := list(unread_intervals(report))):
        report = make(counted(report.snapshot, ports.kinesis, intervals), report.options)
    return report
