"""`inspect --watch`: reads the rows, waits, reads everything, and judges what changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Watched, watched
from reshardctl.model.times import duration
from reshardctl.planning.policy import LOSSLESS
from reshardctl.report.forecast import places_to_watch
from reshardctl.report.lag import position_times
from reshardctl.report.report import make
from reshardctl.snapshot import probed

if TYPE_CHECKING:
    from reshardctl.commands.observer import Observer
    from reshardctl.commands.target import Target
    from reshardctl.diagnosis.evidence import Snapshot
    from reshardctl.execution.ports import Ports
    from reshardctl.report.report import Report

SLICE = 1.0
"""Seconds after which the time left is shown anew."""


def attended(ports: Ports, target: Target, seconds: float, observer: Observer) -> Report:
    """The report on the end of the watch, with what changed since its beginning.

    The stream is listed at both ends too: what cannot be judged is reported before the wait.
    """
    from reshardctl.commands.scoping import require_known
    from reshardctl.commands.survey import survey

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
        observer.phase(f"watching the consumer, {duration(left)} left")
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
