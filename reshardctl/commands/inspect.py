"""`inspect`: what consumers skip, re-read or wait for at their next start. Writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reshardctl.commands.baseline import baseline_of, known_before, of_another
from reshardctl.commands.fail_on import FailOn, Threshold, severity_for
from reshardctl.commands.inspect_many import failing, roundup
from reshardctl.commands.inspect_modes import Looking, looking_of
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.request import counting
from reshardctl.commands.scoping import ScopedSelection, scoped
from reshardctl.commands.target import Target
from reshardctl.commands.targets.named import several
from reshardctl.errors import ReshardError, UsageError
from reshardctl.exit import Exit
from reshardctl.report.report import Report
from reshardctl.report.results import Entry, Roundup

HEIGHT = 900
"""Pixels of the frame in which a notebook shows an `Inspection`."""


@dataclass(frozen=True, slots=True)
class InspectRequest(ScopedSelection):
    """Which consumers to judge, and how. Texts are spelled as the options of `inspect` are."""

    consumers: Sequence[str] = ()
    """Locators, names or streams in reshardctl.toml, or `snapshot:FILE`; none means all of the
    file."""
    count: bool = False
    """Whether to count the records of every effect, which reads the stream."""
    wait: str | None = None
    """How long to wait, as in `15m`, until `until` holds."""
    until: str | None = None
    """`settled` (the default), `shards=N` or `crossed`."""
    if_reshard: Sequence[str] = ()
    """Reshards that are not made yet, after which to judge the next start."""
    watch: str | None = None
    """How long to look at the running consumer, as in `60s`."""
    fail_on: Threshold = FailOn.AS_CONFIGURED
    """The severity from which the result's `exit` is `FINDINGS`; `None` for never. By default what
    reshardctl.toml says of the consumer, or `Severity.ERROR`."""
    baseline: Path | None = None
    """An earlier JSON report or a snapshot, whose findings are not counted again."""
    metrics: bool = False
    """Whether the result is for metrics: with `probe`, the first unread record of every shard is
    read too."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result of `inspect`.

    roundup: each consumer with its report or its failure, in order. words: the arguments that name
    the first one to other commands. alone: whether one consumer was named by its locator, without a
    baseline, so that its report stands by itself. warning: what is wrong with the baseline, if
    anything.
    """

    roundup: Roundup
    words: tuple[str, ...]
    alone: bool
    warning: str = ""

    @property
    def exit(self) -> Exit:
        """OK, FINDINGS at or above `fail_on`, or why a consumer could not be judged."""
        return self.roundup.exit

    @property
    def report(self) -> Report:
        """The report of the only consumer. Raises its failure; UsageError for several."""
        if len(self.roundup.entries) != 1:
            raise UsageError(
                f"{len(self.roundup.entries)} consumers were inspected", "see roundup.entries"
            )
        entry = self.roundup.entries[0]
        if entry.failure is not None:
            raise entry.failure
        assert entry.report is not None
        return entry.report

    def _repr_html_(self) -> str:
        """What a notebook displays: a page for each consumer, in a frame without scripts."""
        from reshardctl.render.html import report_page as page
        from reshardctl.render.markup import frame

        return "\n".join(frame(page(entry), HEIGHT) for entry in self.roundup.entries)


def inspect(request: InspectRequest, observer: Observer = SILENT) -> Inspection:
    """Reads consumers and their streams, and judges their next start.

    Raises UsageError before anything is called. The failure of the only consumer is raised if it is
    named by its locator; otherwise it is kept in the round-up, and the others are judged.
    """
    baseline = None if request.baseline is None else baseline_of(request.baseline)
    scope = request.scope
    if scope is not None and scope.shards and request.if_reshard:
        raise UsageError(
            "--shards and --if-reshard exclude each other: the shards of a forecast have no number "
            "yet", "leave --shards out; the forecast names the shards",
        )
    targets = [
        scoped(known_before(counting(target, request.count), baseline), scope)
        for target in several(request.consumers, request, observer)
    ]
    looking = looking_of(
        request.wait, request.until, request.if_reshard, request.watch, request.metrics
    )
    first = targets[0]
    if len(targets) == 1 and first.entry is None and baseline is None:
        report = _alone(looking, first, observer)
        code = report.exit(failing(report.findings, severity_for(request.fail_on, None)))
        entry = Entry(
            first.locator.text, first.stream, first.locator, first.argv, code, report=report,
            asked=first.stream,
        )
        return Inspection(Roundup((entry,), code, first.argv), first.argv, alone=True)
    judged = roundup(
        targets, request, looking, request.fail_on, request.consumers, observer, baseline
    )
    warning = ""
    if request.baseline is not None and baseline is not None:
        warning = of_another(baseline, request.baseline, list(judged.reports()))
    return Inspection(judged, first.argv, alone=False, warning=warning)


def _alone(looking: Looking, target: Target, observer: Observer) -> Report:
    """The report of the only consumer. Its failure is raised, and names it for metrics."""
    try:
        return looking.report(target, observer)
    except ReshardError as error:
        error.unjudged = (target.stream, target.locator.text)
        raise
