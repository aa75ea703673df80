"""Reads a consumer and its stream, and judges what was read; at once, after a wait, or in a watch.

`--wait` and `--until` look again and again, at a low rate, until a reshard is over. `--watch` reads
the rows, waits, reads everything, and judges what changed. A forecast judges what would be after a
reshard that is not made yet.

The first unread record of shards is read, because its arrival tells how far back they are: for
metrics, of every shard; for a watch, of those that were read more slowly than time passes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.commands.exclusions import require_compatible, set_in
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Snapshot, Watched, watched
from reshardctl.errors import CannotTell, StreamUnsettled, TimedOut, UsageError
from reshardctl.model.times import When, duration, instant, parse_seconds, parse_when
from reshardctl.planning.policy import AT_TIMESTAMP, LOSSLESS, Policy
from reshardctl.report.forecast import places_to_watch
from reshardctl.report.lag import Look, position_times, slower_places, unread_places, with_pace
from reshardctl.report.report import (
    RepairOptions,
    Report,
    intervals_to_count,
    make,
    places_to_probe,
)
from reshardctl.snapshot import Ports, Stream, counted, probed, take
from reshardctl.snapshot.resolve import resolved, resolved_positions, with_ends
from reshardctl.snapshot.take import first_records

if TYPE_CHECKING:
    from reshardctl.commands.observer import Observer
    from reshardctl.commands.target import Target
    from reshardctl.lineage import Lineage, Reshard
    from reshardctl.report.forecast import Uncrossed


def survey(
    ports: Ports, stream: str, locator: Locator, options: RepairOptions, probe: bool = False
) -> Report:
    """Reads a consumer's rows and its stream, and judges them.

    A policy by time comes back resolved to numbers, in the report's options. probe: bounded reads
    decide what they can, and everything is judged again.
    """
    snapshot = take(ports.kinesis, ports.store, stream, locator, ports.clock)
    return judged(ports.kinesis, snapshot, options, probe)


def judged(kinesis: Stream, snapshot: Snapshot, options: RepairOptions, probe: bool) -> Report:
    """Judges what was read, as `survey` does; the stream is asked for records only."""
    if options.policy.unresolved:
        make(snapshot, replace(options, policy=LOSSLESS))  # a wrong table is refused first
        resolve = resolved if options.policy.given is None else resolved_positions
        options = replace(options, policy=resolve(options.policy, snapshot, kinesis))
    options = with_last_numbers(kinesis, snapshot, options, probe)
    report = make(snapshot, options)
    if probe and (places := places_to_probe(report)):
        report = make(probed(snapshot, kinesis, places), options)
    if options.count and (intervals := intervals_to_count(report)):
        report = make(counted(report.snapshot, kinesis, intervals), options)
    return report


def with_last_numbers(
    kinesis: Stream, snapshot: Snapshot, options: RepairOptions, probe: bool
) -> RepairOptions:
    """The options of a bootstrap with the last record of each shard that it takes as over.

    Only where the store marks a shard's end by that record's number, and records may be read.
    """
    reading = probe or options.policy.since is not None
    if not (options.bootstrap and reading and snapshot.locator.spec.ends_by_number):
        return options
    return replace(options, policy=with_ends(options.policy, snapshot, kinesis))


SLICE = 1.0
"""Seconds after which the time left is shown anew."""


def attended(ports: Ports, target: Target, seconds: float, observer: Observer) -> Report:
    """The report on the end of the watch, with what changed since its beginning.

    The stream is listed at both ends too: what cannot be judged is reported before the wait.
    """
    from reshardctl.commands.target import require_known

    plain = replace(target.repair_options, policy=LOSSLESS, count=False)
    first = survey(ports, target.stream, target.locator, plain)
    require_known(first)
    _pass(ports, seconds, observer)
    report = survey(ports, target.stream, target.locator, target.repair_options, target.probe)
    snapshot = replace(report.snapshot, watched=_compared(first.snapshot, report.snapshot))
    if target.probe and (places := places_to_watch(snapshot)):
        snapshot = probed(snapshot, ports.kinesis, places)
    return make(snapshot, report.options)


def _pass(ports: Ports, seconds: float, observer: Observer) -> None:
    end = ports.clock() + seconds
    while (left := end - ports.clock()) > 0:
        observer.phase(f"{duration(left)} left; watching the consumer")
        ports.sleep(min(SLICE, left))


def _compared(first: Snapshot, second: Snapshot) -> Watched:
    consumer = consumer_of(second.locator)
    before, after = (
        consumer.owners_by_shard(consumer.parse(snapshot.images, snapshot.lineage.stream))
        for snapshot in (first, second)
    )
    excluded = consumer.excluded_by(round(second.now - first.now))
    old, new = (consumer.signs_of_life(snapshot.images) for snapshot in (first, second))
    alive = any(old.get(key) != sign for key, sign in new.items())
    seen = watched(before, after, first.now, second.now, excluded, alive)
    return replace(seen, positions=position_times(first))


PAUSE = 5.0
"""Seconds between two looks at the stream, each two calls and a page per thousand shards."""
ROWS_PAUSE = 15.0
"""Seconds between two looks at the rows, each a scan of the table."""
PAST = "past="
_BEHIND, _EMPTY, _SHORT = "has not crossed", "holds no position", "has not passed"
_SHARDS = re.compile(r"shards=([1-9]\d{0,5})\Z", re.ASCII)


class Wait(Struct, frozen=True):
    """How long, in seconds, and for what: `shards` open ones (0: any number), `crossed`, `past`."""

    seconds: float
    shards: int = 0
    crossed: bool = False
    past: When | None = None


def wait_of(patience: str | None, until: str | None) -> Wait | None:
    """Reads the options `--wait` and `--until`. Raises UsageError."""
    if patience is None:
        if until is not None:
            raise UsageError(
                f"--until {until}: nothing is waited for without --wait",
                f"say how long: --wait 15m --until {until}",
            )
        return None
    seconds = parse_seconds(patience, "--wait")
    if until is None or until == "settled":
        return Wait(seconds)
    if until == "crossed":
        return Wait(seconds, crossed=True)
    if until.startswith(PAST):
        return Wait(seconds, past=parse_when(until.removeprefix(PAST)))
    if shards := _SHARDS.match(until):
        return Wait(seconds, shards=int(shards[1]))
    raise UsageError(
        f"--until {until}: cannot be waited for",
        "it takes settled, shards=N (a number from 1 on), crossed or past=TIME",
    )


def wait_for(
    wait: Wait, ports: Ports, stream: str, locator: Locator, observer: Observer
) -> None:
    """Returns once the condition holds. TimedOut (exit 3) names what was still missing.

    At most half of the time is spent reading: a look that took long is followed by a long pause.
    """
    look, pause = _stream(ports, stream, wait.shards), PAUSE
    if wait.crossed or wait.past is not None:
        rows = _rows(ports, stream, locator)
        look = rows if wait.past is None else _past(ports, stream, locator, wait.past)
        pause = ROWS_PAUSE
    end = ports.clock() + wait.seconds
    while True:
        began = ports.clock()
        missing = look()
        if not missing:
            return
        now = ports.clock()
        left = end - now
        if left <= 0:
            raise TimedOut(f"after {duration(wait.seconds)} {missing}", _next(missing))
        observer.phase(f"{duration(left)} left; waiting: {missing}")
        ports.sleep(min(max(pause, now - began), left))


def _next(missing: str) -> str:
    if _BEHIND in missing:
        return "the same without --wait says what stands in the way; --watch 60s judges the workers"
    if _SHORT in missing:
        return "wait longer with --wait; reshardctl status shows how far each shard is"
    if _EMPTY in missing:
        return "check the name; a new consumer has positions once it has run"
    return "look at the reshard, or wait longer with --wait"


def _stream(ports: Ports, stream: str, shards: int) -> Callable[[], str]:
    def look() -> str:
        try:
            return _unsettled(ports.kinesis.lineage(stream), stream, shards)
        except StreamUnsettled:
            return f"stream {stream} is still not settled"

    return look


def _unsettled(lineage: Lineage, stream: str, shards: int) -> str:
    if lineage.stream.status != "ACTIVE":
        return f"stream {stream} is still {lineage.stream.status}"
    if shards and lineage.open_count() != shards:
        return f"stream {stream} has {lineage.open_count()} open shards, not {shards}"
    return ""


def _rows(ports: Ports, stream: str, locator: Locator) -> Callable[[], str]:
    from reshardctl.diagnosis.evidence import without_position
    from reshardctl.report.forecast import uncrossed
    from reshardctl.snapshot import take

    def look() -> str:
        try:
            snapshot = take(ports.kinesis, ports.store, stream, locator, ports.clock)
        except StreamUnsettled:
            return f"stream {stream} is still not settled"
        if unsettled := _unsettled(snapshot.lineage, stream, 0):
            return unsettled
        missing = uncrossed(snapshot)
        return without_position(snapshot) if missing.empty else _spelled(missing, locator)

    return look


def _past(ports: Ports, stream: str, locator: Locator, when: When) -> Callable[[], str]:
    """A look at whether all that arrived before a time is processed, in idle shards too.

    The time is resolved to numbers once, as a policy's is.
    """
    from reshardctl.diagnosis.evidence import without_position
    from reshardctl.render.words import shards
    from reshardctl.report.forecast import short_of, uncrossed
    from reshardctl.snapshot import take

    resolved_to: list[Policy] = []

    def look() -> str:
        try:
            snapshot = take(ports.kinesis, ports.store, stream, locator, ports.clock)
        except StreamUnsettled:
            return f"stream {stream} is still not settled"
        if when.at is not None and when.at > snapshot.now:
            return f"{instant(when.at)} is still to come"
        if uncrossed(snapshot).empty:
            return without_position(snapshot)
        if not resolved_to:
            policy = resolved(
                replace(AT_TIMESTAMP, when=when), snapshot, ports.kinesis,
                f"--until {PAST}{when.text}",
            )
            resolved_to.append(with_ends(policy, snapshot, ports.kinesis))
        (policy,) = resolved_to
        late = short_of(snapshot, policy)
        time = "" if policy.since is None else instant(policy.since)
        where = f"shard{'s' if len(late) > 1 else ''} {shards(late)}"
        return f"{locator.text} {_SHORT} {time} in {where}" if late else ""

    return look


def _spelled(missing: Uncrossed, locator: Locator) -> str:
    from reshardctl.render.words import shards

    parts = []
    if missing.behind:
        parts.append(f"not read to the end: {shards(missing.behind)}")
    if missing.unstarted:
        parts.append(f"not started: {shards(missing.unstarted)}")
    return f"{locator.text} {_BEHIND} ({'; '.join(parts)})" if parts else ""


def with_first_records(
    report: Report, ports: Ports, observer: Observer, every_shard: bool
) -> Report:
    """The report with the first unread record of shards, and after a watch with what falls behind.

    every_shard: read it of each shard that may have one; otherwise, after a watch, of those that
    were read more slowly than time passed, and without a watch of none. The reads have a budget of
    their own. If one fails, the report comes back as it was, and the observer is told: no finding
    rests on them.
    """
    watched = report.snapshot.watched
    first = None if watched is None else Look(watched.since, watched.positions)
    if every_shard:
        places = unread_places(report)
    else:
        places = [] if first is None else slower_places(report, first)
    if places:
        observer.phase(f"reading the first unread record of {len(places)} shards")
        try:
            snapshot = first_records(report.snapshot, ports.kinesis, places)
        except CannotTell as error:
            observer.note(f"the age of unread records is not known: {error.what}")
            return report
        report = replace(report, snapshot=snapshot)
    return report if first is None else with_pace(report, first)


SHORTEST = 10.0
"""Least seconds of a watch: a healthy owner renews every 3.3 s by default."""


def telling_unfinished(report: Report, target: Target) -> Report:
    """The report with what is not finished of fixes and undos; unchanged of what is not live."""
    if target.offline:
        return report
    from reshardctl.commands.unfinished import with_unfinished

    folder = None if target.entry is None else target.entry.journal
    return with_unfinished(report, folder, target.argv)


class Looking(Struct, frozen=True):
    """How to inspect.

    wait: what to wait for first. reshards: judge the stream as it would be after them, in this
    order. watch: seconds to watch the running consumer, 0 for not. metrics: whether a probe also
    reads the first unread record of every shard.
    """

    wait: Wait | None = None
    reshards: tuple[Reshard, ...] = ()
    watch: float = 0.0
    metrics: bool = False

    def report(self, target: Target, observer: Observer) -> Report:
        """Waits, reads and judges."""
        if self.reshards:
            _nothing_measured(target)
        ports = target.ports()
        report = self._report(target, ports, observer)
        if target.probe and (self.metrics or self.watch):
            report = with_first_records(report, ports, observer, every_shard=self.metrics)
        return telling_unfinished(report, target)

    def _report(self, target: Target, ports: Ports, observer: Observer) -> Report:
        from reshardctl.commands.target import require_known
        from reshardctl.report.forecast import forecast

        if self.wait is not None:
            wait_for(self.wait, ports, target.stream, target.locator, observer)
        if self.watch:
            return attended(ports, target, self.watch, observer)
        report = survey(ports, target.stream, target.locator, target.repair_options, target.probe)
        require_known(report)
        return forecast(report, self.reshards) if self.reshards else report


def looking_of(
    wait: str | None, until: str | None, if_reshard: Sequence[str] | None, watch: str | None,
    metrics: bool = False,
) -> Looking:
    """Reads the options. Raises UsageError before anything is called."""
    from reshardctl.lineage import parse_reshard

    reshards = tuple(map(parse_reshard, if_reshard or ()))
    asked = set_in({
        "--if-reshard": bool(reshards), "--watch": watch is not None,
        "--format openmetrics": metrics,
    })
    require_compatible(asked, "--if-reshard")
    return Looking(wait_of(wait, until), reshards, _seconds(watch), metrics)


def _seconds(watch: str | None) -> float:
    if watch is None:
        return 0.0
    seconds = parse_seconds(watch, "--watch")
    if seconds < SHORTEST:
        raise UsageError(
            f"--watch {watch} is too short: a worker need not give a sign of life in that time",
            "watch for three times the application's failover time at least, as in --watch 60s",
        )
    return seconds


def _nothing_measured(target: Target) -> None:
    """UsageError for options that read records: those after a future reshard do not exist."""
    options = target.repair_options
    policy = f"--policy {options.policy.name}"
    asked = set_in({"--count": options.count, policy: options.policy.unresolved})
    require_compatible(asked | {"--if-reshard"}, "--count", policy)


def not_for_fix(if_reshard: Sequence[str] | None) -> None:
    """UsageError: there is nothing to repair before the reshard is made."""
    if if_reshard:
        raise UsageError(
            "--if-reshard is a forecast, and fix writes only what is wrong now",
            f"reshardctl inspect ... --if-reshard {shlex.quote(if_reshard[0])}; fix what "
            "inspect finds without it, reshard, then fix again",
        )
