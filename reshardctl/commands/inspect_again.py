"""`inspect --every`: inspects again and again, at a fixed period, until it is interrupted."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.commands.exclusions import FILES, require_compatible
from reshardctl.commands.inspect import Inspection, InspectRequest, inspect
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.target import asked
from reshardctl.errors import ReshardError, UsageError
from reshardctl.model.times import duration, parse_seconds
from reshardctl.report.lag import Look, look_at, with_pace
from reshardctl.report.results import Entry

SHORTEST = 10.0
"""Least seconds between the beginnings of two rounds, each of which scans the table."""
SLICE = 5.0
"""Seconds after which the time left is shown anew."""


class Round(Struct, frozen=True):
    """One round. at: Unix seconds of its end. outcome: the result, or why there is none."""

    at: float
    outcome: Inspection | ReshardError


def inspect_again(
    request: InspectRequest, every: str, observer: Observer = SILENT
) -> Iterator[Round]:
    """Inspects at once, and then again in every period, as in `5m`, until the caller stops.

    A round that takes longer than the period is followed by the next whole period. The failure of a
    round is its outcome. Raises UsageError for options that exclude each other, and for one that
    the first round meets.
    """
    seconds = _period(every, request)
    # Two rounds tell what falls behind.
    request = dataclasses.replace(request, metrics=not request.if_reshard)
    looks: dict[tuple[str, str], Look] = {}
    first = True
    while True:
        began = time.monotonic()
        try:
            outcome: Inspection | ReshardError = _paced(inspect(request, observer), looks)
        except ReshardError as error:
            if first and isinstance(error, UsageError):
                raise
            outcome = error
        first = False
        yield Round(time.time(), outcome)
        _pause(seconds - (time.monotonic() - began) % seconds, observer)


def _period(every: str, request: InspectRequest) -> float:
    seconds = parse_seconds(every, "--every")
    if seconds < SHORTEST:
        raise UsageError(
            f"--every {every} is too short: every round scans the whole table",
            f"the least is {duration(SHORTEST)}",
        )
    require_compatible({*asked(request), "--every"}, FILES, "--every")
    if request.watch is not None and parse_seconds(request.watch) >= seconds:
        raise UsageError(
            f"--every {every} leaves no time for --watch {request.watch}",
            "make the period longer than the watch",
        )
    return seconds


def _pause(seconds: float, observer: Observer) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        observer.phase(f"next look in {duration(left)}")
        time.sleep(min(SLICE, left))


def _paced(inspection: Inspection, looks: dict[tuple[str, str], Look]) -> Inspection:
    """The result with what the round before and this one tell of a consumer that falls behind."""
    entries = tuple(_entry(entry, looks) for entry in inspection.roundup.entries)
    return replace(inspection, roundup=replace(inspection.roundup, entries=entries))


def _entry(entry: Entry, looks: dict[tuple[str, str], Look]) -> Entry:
    if entry.report is None or not entry.report.judged:
        return entry
    which = entry.stream, entry.name  # a table of several streams is a consumer of each
    earlier = looks.get(which)
    looks[which] = look_at(entry.report.snapshot)
    if earlier is None or entry.report.pace:
        return entry
    return replace(entry, report=with_pace(entry.report, earlier))
