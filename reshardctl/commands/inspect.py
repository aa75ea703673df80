"""`inspect`: what consumers skip, re-read or wait for at their next start. Writes nothing.

Several are judged at once; a failure of one does not hide the others. `--baseline FILE` is an
earlier report or snapshot, read from disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.at_once import at_once
from reshardctl.codec.argv import option, words
from reshardctl.codec.strict import REPORT, ROUNDUP, SNAPSHOT, JsonPath, or_another_kind, parse
from reshardctl.commands.exclusions import FILES, SEVERAL, require_compatible
from reshardctl.commands.named import several
from reshardctl.commands.observer import SILENT, FailOn, Observer, Threshold
from reshardctl.commands.places import account_of
from reshardctl.commands.survey import Looking, looking_of
from reshardctl.commands.target import (
    WANTED,
    ScopedSelection,
    Selection,
    Target,
    asked,
    counting,
    scoped,
)
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Earlier, Whose, whose
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.rules.base import Sifted, sift
from reshardctl.errors import ReshardError, UsageError
from reshardctl.exit import Exit, worst
from reshardctl.lineage import Lineage
from reshardctl.report.baseline import MAKE, Baseline, parsed
from reshardctl.report.report import Report
from reshardctl.report.results import Entry, Roundup, loss_begins
from reshardctl.snapshot import Overlaid, Ports, Stream, file
from reshardctl.snapshot.file import SavedSnapshot
from reshardctl.stores.given_file import content

if TYPE_CHECKING:
    from reshardctl.commands.fleet import Fleet


def failing(findings: Sequence[Finding], fail_on: Severity | None) -> bool:
    """Whether a finding is at or above a severity; never if `fail_on` is `None`."""
    return fail_on is not None and any(f.severity >= fail_on for f in findings)


def roundup(
    targets: Sequence[Target], selection: Selection, looking: Looking, fail_on: Threshold,
    names: Sequence[str], observer: Observer, baseline: Baseline | None = None, *,
    alone: bool = False,
) -> Roundup:
    """Judges all of them, in the order given.

    names: as they were typed. alone: whether the failure of the only one is raised.
    """
    outcomes: Sequence[Report | ReshardError] = (
        [_alone(looking, targets[0], observer)] if alone
        else _together(targets, selection, looking, observer)
    )
    entries = _one_each([
        _entry(target, outcome, target.severity(fail_on), baseline)
        for target, outcome in zip(targets, outcomes, strict=True)
    ])
    argv = targets[0].argv if targets else ()
    again = argv if alone else (*names, *argv[1:])
    return Roundup(entries, worst(*(entry.exit for entry in entries)), again)


def _together(
    targets: Sequence[Target], selection: Selection, looking: Looking, observer: Observer
) -> list[Report | ReshardError]:
    """The report or the failure of each, read at the same time."""
    listings: dict[tuple[object, ...], Listed] = {}
    ready = [_ready(target, selection, looking, listings) for target in targets]
    return at_once([_judging(target, looking, observer) for target in ready])


def _judging(
    target: Target | ReshardError, looking: Looking, observer: Observer
) -> Callable[[], Report]:
    def judge() -> Report:
        if isinstance(target, ReshardError):
            raise target
        return looking.report(target, observer)

    return judge


def _ready(
    target: Target,
    selection: Selection,
    looking: Looking,
    listings: dict[tuple[object, ...], Listed],
) -> Target | ReshardError:
    """The target with its ports made, one after another: making clients is not thread-safe."""
    try:
        ports = target.ports()
    except ReshardError as error:
        return error
    if looking.wait is None and not target.offline:
        key = _key(target, selection)
        shared = listings.setdefault(key, Listed(ports.kinesis))
        ports = replace(ports, kinesis=Overlaid(ports.kinesis, shared.lineage))
    return replace(target, opened=_opened(ports))


def _opened(ports: Ports) -> Callable[[], Ports]:
    return lambda: ports


def _key(target: Target, selection: Selection) -> tuple[object, ...]:
    """Equal for the same stream, reached in the same way."""
    if target.entry is None:
        return (target.stream, *words(selection.account))
    stream = target.entry.stream
    return (stream.stream, stream.created, *words(account_of(stream.reach, selection.account)))


def _entry(
    target: Target, outcome: Report | ReshardError, fail_on: Severity | None,
    baseline: Baseline | None,
) -> Entry:
    entry = target.entry
    name = target.locator.text if entry is None else entry.name
    stream = target.stream if entry is None else entry.stream.name
    whole = Entry(
        name, stream, target.locator, target.suggested, Exit.OK,
        None if entry is None else entry.where, asked=target.stream,
    )
    if isinstance(outcome, ReshardError):
        return replace(whole, exit=outcome.exit, failure=outcome)
    argv = outcome.options.policy.lasting(target.suggested)
    accepted = (*target.suppressions, *(() if baseline is None else baseline.of(outcome)))
    sifted = sift(outcome.findings, accepted, outcome.snapshot.now)
    idle = tuple(
        suppression for suppression in sifted.unused
        if not any(suppression.covers(f) or suppression.beyond(f) for f in outcome.left_out)
    )
    sifted = replace(sifted, unused=idle)
    return replace(
        whole, suggested_command=argv, exit=outcome.exit(failing(sifted.kept, fail_on)),
        report=replace(outcome, findings=sifted.kept), sifted=sifted,
    )


def _one_each(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Marks the second of two consumers of one stream on the same rows as wrong."""
    first: dict[tuple[str, ...], Entry] = {}
    unique = []
    for entry in entries:
        arn = entry.report.snapshot.store.get("arn", "") if entry.report is not None else ""
        if entry.report is None or not arn:
            unique.append(entry)
            continue
        locator = entry.report.snapshot.locator
        picked = (locator.options.get(n, "") for n in locator.spec.selectors)
        whose = (entry.report.snapshot.lineage.stream.arn, arn, *picked)
        other = first.setdefault(whose, entry)
        unique.append(entry if other is entry else _twice(entry, other, arn))
    return tuple(unique)


def _twice(entry: Entry, other: Entry, arn: str) -> Entry:
    twice = UsageError(
        f"{arn} is the store of {other.name}, too: two consumers never share the positions of one "
        "stream", "leave one of them out, or name its own store",
    )
    return replace(entry, exit=twice.exit, report=None, failure=twice, sifted=Sifted(()))


class Listed:
    """A stream that several consumers read: it is listed once, by the first of them."""

    def __init__(self, kinesis: Stream) -> None:
        self._kinesis = kinesis
        self._lock = threading.Lock()
        self._found: dict[str, Lineage | ReshardError] = {}

    def lineage(self, stream: str) -> Lineage:
        """The one listing, or the one failure."""
        with self._lock:
            if stream not in self._found:
                try:
                    self._found[stream] = self._kinesis.lineage(stream)
                except ReshardError as error:
                    self._found[stream] = error
        listing = self._found[stream]
        if isinstance(listing, ReshardError):
            raise listing
        return listing


def baseline_of(path: Path) -> Baseline:
    """The findings and rows of the file. A snapshot has no findings, only rows.

    UsageError for a file that is neither.
    """
    source = content(path, MAKE)
    with or_another_kind(source, str(path), "a report or a snapshot", REPORT, ROUNDUP, SNAPSHOT):
        return _parsed(source, path)


def _parsed(source: bytes, path: Path) -> Baseline:
    body = parse(source, JsonPath(str(path), next=MAKE))
    if isinstance(body, dict) and body.get("schema") == file.VERSION:
        return Baseline({}, _earlier(file.parsed(source, str(path))))
    return parsed(source, str(path))


def _earlier(saved: SavedSnapshot) -> dict[Whose, Earlier]:
    earlier = {}
    for snapshot in saved.consumers:
        consumer = consumer_of(snapshot.locator)
        positions = consumer.positions(consumer.parse(snapshot.images, snapshot.lineage.stream))
        earlier[whose(snapshot)] = Earlier(snapshot.now, positions)
    return earlier


def of_another(baseline: Baseline, path: Path, reports: Sequence[Report]) -> str:
    """A warning if the file shows none of what was inspected, so that it hides nothing.

    "" if it shows some.
    """
    if not reports or any(map(baseline.shows, reports)):
        return ""
    held = "; ".join(baseline.contents) or "no consumer at all"
    return (
        f"warning: {path} shows none of these consumers, so nothing is known from it. "
        f"It shows {held}"
    )


def known_before(target: Target, baseline: Baseline | None) -> Target:
    """The same target, judged with what the baseline shows of its rows."""
    if baseline is None:
        return target
    return replace(target, repair_options=replace(target.repair_options, earlier=baseline.earlier))


HEIGHT = 900
"""Pixels of the frame in which a notebook shows an `Inspection`."""


@dataclass(frozen=True, slots=True)
class InspectRequest(ScopedSelection):
    """Which consumers to judge, and how. Texts are spelled as the options of `inspect` are."""

    consumers: Sequence[str] = ()
    """Locators, names or streams in reshardctl.toml, or `snapshot:FILE`; none means all of the
    file."""
    count: bool = option("--count", False)
    """Whether to count the records of every effect, which reads the stream."""
    wait: str | None = option("--wait")
    """How long to wait, as in `15m`, until `until` holds."""
    until: str | None = option("--until")
    """`settled` (the default), `shards=N`, `crossed` or `past=TIME`."""
    if_reshard: Sequence[str] = option("--if-reshard", ())
    """Reshards that are not made yet, after which to judge the next start."""
    watch: str | None = option("--watch")
    """How long to look at the running consumer, as in `60s`."""
    fail_on: Threshold = FailOn.AS_CONFIGURED
    """The severity from which the result's `exit` is `FINDINGS`; `None` for never. By default what
    reshardctl.toml says of the consumer, or `Severity.ERROR`."""
    baseline: Path | None = option("--baseline")
    """An earlier JSON report or a snapshot, whose findings are not counted again."""
    discover: bool = option("--discover", False)
    """Whether to judge every consumer whose table `discover` finds, of `stream` or of every stream
    of the account; `consumers` is empty then."""
    skipped: Path | None = option("--skipped")
    """A new file for what the next start of the only consumer skips, as intervals by shard."""
    metrics: bool = False
    """Whether the result is for metrics: with `probe`, the first unread record of every shard is
    read too."""


class Inspection(Struct, frozen=True):
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
    require_compatible(asked(request), FILES, "--shards", "--discover", "--skipped")
    if request.skipped is not None:
        from reshardctl.stores.named_file import check_new_file

        check_new_file(request.skipped, "--skipped")
    looking = looking_of(
        request.wait, request.until, request.if_reshard, request.watch, request.metrics
    )
    found = _found(request, observer)
    named = several(request.consumers, request, observer) if found is None else found.targets
    targets = [
        scoped(known_before(counting(target, request.count), baseline), scope) for target in named
    ]
    if request.skipped is not None and len(targets) > 1:
        require_compatible({"--skipped", SEVERAL}, SEVERAL)
    alone = found is None and baseline is None and [t.entry for t in targets] == [None]
    judged = roundup(
        targets, request, looking, request.fail_on, request.consumers, observer, baseline,
        alone=alone,
    )
    suggested = judged.entries[0].suggested_command if targets else ()
    if found is not None:
        judged = _completed(judged, found, request)
    warning = ""
    if request.baseline is not None and baseline is not None:
        warning = of_another(baseline, request.baseline, list(judged.reports()))
    inspection = Inspection(judged, suggested or judged.again, alone, warning)
    if request.skipped is not None:
        from reshardctl.commands.skipped import save_skipped

        save_skipped(request.skipped, inspection.report, (), observer)
    return inspection


def _found(request: InspectRequest, observer: Observer) -> Fleet | None:
    """The consumers that are looked for, `None` where they are named.

    UsageError for both.
    """
    if not request.discover:
        return None
    if request.consumers:
        raise UsageError(
            f"--discover looks for consumers, and {request.consumers[0]} is named",
            "leave one of them out",
        )
    from reshardctl.commands.fleet import fleet

    return fleet(request, observer)


def _completed(judged: Roundup, found: Fleet, request: InspectRequest) -> Roundup:
    """What came of the consumers that were found, the worst first, with what could not be told."""
    entries = sorted([*judged.entries, *found.unjudged], key=_calm)
    codes = [entry.exit for entry in entries] or [Exit.NOTHING_FOUND]
    return replace(
        judged, entries=tuple(entries), exit=worst(*codes), searched=found.searched,
        again=words(request, ("--discover", "--stream", *WANTED)),
    )


def _calm(entry: Entry) -> tuple[bool, int, float]:
    """Smaller for what has to be looked at sooner."""
    if entry.report is None:
        return False, 0, 0.0
    severity = max((finding.severity for finding in entry.report.findings), default=-1)
    begins = loss_begins(entry.report)
    return True, -severity, inf if begins is None else begins


def _alone(looking: Looking, target: Target, observer: Observer) -> Report:
    """The report of the only consumer. Its failure is raised, and names it for metrics."""
    try:
        return looking.report(target, observer)
    except ReshardError as error:
        error.unjudged = (target.stream, target.locator.text)
        raise
