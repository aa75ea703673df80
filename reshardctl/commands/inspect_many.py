"""Judges several consumers at once; a failure of one does not hide the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from reshardctl.commands.fail_on import Threshold, severity_for
from reshardctl.commands.inspect_modes import Looking
from reshardctl.commands.observer import Observer
from reshardctl.commands.target import Selection, Target
from reshardctl.commands.targets.configured import account_of
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.rules.suppressions import Sifted, sift
from reshardctl.errors import CannotTell, ReshardError, UsageError
from reshardctl.execution.ports import Ports
from reshardctl.exit import Exit, worst
from reshardctl.lineage import Lineage
from reshardctl.report.baseline import Baseline
from reshardctl.report.report import Report
from reshardctl.report.results import Entry, Roundup
from reshardctl.snapshot import Stream

AT_ONCE = 8
"""Consumers that are read at the same time."""

Job = Callable[[], Any]
Result = TypeVar("Result")


def failing(findings: Sequence[Finding], fail_on: Severity | None) -> bool:
    """Whether a finding is at or above a severity; never if `fail_on` is `None`."""
    return fail_on is not None and any(f.severity >= fail_on for f in findings)


def roundup(
    targets: Sequence[Target], selection: Selection, looking: Looking, fail_on: Threshold,
    names: Sequence[str], observer: Observer, baseline: Baseline | None = None,
) -> Roundup:
    """Judges all of them, in the order given. names: as they were typed."""
    listings: dict[tuple[object, ...], Listed] = {}
    ready = [_ready(target, selection, looking, listings) for target in targets]
    judged = at_once([_judging(target, looking, observer) for target in ready])
    entries = tuple(
        _entry(target, outcome, severity_for(fail_on, target.entry), baseline)
        for target, outcome in zip(targets, judged, strict=True)
    )
    entries = _one_each(entries)
    argv = targets[0].argv[1:]
    code = worst(*(entry.exit for entry in entries))
    return Roundup(entries, code, (*names, *argv))


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
        ports = replace(ports, kinesis=cast("Stream", shared.beside(ports.kinesis)))
    return replace(target, opened=_opened(ports))


def _opened(ports: Ports) -> Callable[[], Ports]:
    return lambda: ports


def _key(target: Target, selection: Selection) -> tuple[object, ...]:
    """Equal for the same stream, reached in the same way."""
    if target.entry is None:
        return (target.stream, *selection.account.argv())
    stream = target.entry.stream
    return (stream.stream, stream.created, *account_of(stream.reach, selection.account).argv())


def _entry(
    target: Target, outcome: Report | ReshardError, fail_on: Severity | None,
    baseline: Baseline | None,
) -> Entry:
    entry = target.entry
    name = target.locator.text if entry is None else entry.name
    stream = target.stream if entry is None else entry.stream.name
    whole = Entry(
        name, stream, target.locator, target.argv, Exit.OK,
        None if entry is None else entry.where, asked=target.stream,
    )
    if isinstance(outcome, ReshardError):
        return replace(whole, exit=outcome.exit, failure=outcome)
    accepted = (*target.suppressions, *(() if baseline is None else baseline.of(outcome)))
    sifted = sift(outcome.findings, accepted, outcome.snapshot.now)
    idle = tuple(
        suppression for suppression in sifted.unused
        if not any(map(suppression.covers, outcome.left_out))
    )
    sifted = replace(sifted, unused=idle)
    return replace(
        whole, exit=outcome.exit(failing(sifted.kept, fail_on)),
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
        picked = (entry.locator.options.get(n, "") for n in entry.locator.spec.selectors)
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

    def beside(self, kinesis: Stream) -> _Beside:
        """The same listing, for a consumer with ports of its own for everything else."""
        return _Beside(self, kinesis)


class _Beside:
    def __init__(self, listed: Listed, kinesis: Stream) -> None:
        self._kinesis = kinesis
        self.lineage = listed.lineage

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kinesis, name)


def at_once(
    jobs: Sequence[Callable[[], Result]], limit: int = AT_ONCE
) -> list[Result | ReshardError]:
    """Does all jobs, at most `limit` at a time; their results or failures, in order.

    The threads are daemons: Ctrl-C ends the command at once, because reading leaves nothing behind.
    """
    results: list[Any] = [None] * len(jobs)
    queue: SimpleQueue[int] = SimpleQueue()
    for index in range(len(jobs)):
        queue.put(index)

    def work() -> None:
        while True:
            try:
                index = queue.get_nowait()
            except Empty:
                return
            try:
                results[index] = jobs[index]()
            except ReshardError as error:
                results[index] = error
            except Exception as error:
                results[index] = CannotTell(
                    f"unexpected {type(error).__name__}: {error}",
                    "this is a defect of reshardctl; look at this consumer alone",
                )

    threads = [
        threading.Thread(target=work, daemon=True) for _ in range(min(limit, len(jobs)))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
