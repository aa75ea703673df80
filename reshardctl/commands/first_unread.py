"""Reads the first unread record of shards: its arrival tells how far back they are.

For metrics, of every shard; for a watch, of those that were read more slowly than time passes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reshardctl.errors import CannotTell
from reshardctl.report.lag import Look, slower_places, unread_places, with_pace
from reshardctl.snapshot.take import first_records

if TYPE_CHECKING:
    from reshardctl.commands.observer import Observer
    from reshardctl.execution.ports import Ports
    from reshardctl.report.report import Report


def with_first_records(
    report: Report, ports: Ports, observer: Observer, every_shard: bool
) -> Report:
    """The same report, with what the reads met, and after a watch with what falls behind.

    The reads have a budget of their own. One that fails leaves ages out, and is noted: no finding
    rests on it.
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
