"""The modes of `inspect`: after a wait, during a watch, or after a reshard that is not made yet."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reshardctl.commands.wait import Wait, wait_for, wait_of
from reshardctl.errors import UsageError
from reshardctl.model.times import parse_seconds

if TYPE_CHECKING:
    from reshardctl.commands.observer import Observer
    from reshardctl.commands.target import Target
    from reshardctl.execution.ports import Ports
    from reshardctl.lineage import Reshard
    from reshardctl.report.report import Report

SHORTEST = 10.0
"""Least seconds of a watch: a healthy owner renews every 3.3 s by default."""


@dataclass(frozen=True, slots=True)
class Looking:
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
            from reshardctl.commands.first_unread import with_first_records

            report = with_first_records(report, ports, observer, every_shard=self.metrics)
        return report

    def _report(self, target: Target, ports: Ports, observer: Observer) -> Report:
        from reshardctl.commands.scoping import require_known
        from reshardctl.commands.survey import survey
        from reshardctl.report.forecast import forecast

        if self.wait is not None:
            wait_for(self.wait, ports, target.stream, target.locator, observer)
        if self.watch:
            from reshardctl.commands.watch import attended

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
    if reshards and watch is not None:
        raise UsageError(
            "--if-reshard and --watch exclude each other: one judges a start after a reshard that "
            "nobody has made, the other what runs now", "run inspect once with each",
        )
    if reshards and metrics:
        raise UsageError(
            "--if-reshard and --format openmetrics exclude each other: metrics tell what is, not "
            "what a reshard would bring", "leave --if-reshard out",
        )
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
    repair_options = target.repair_options
    if repair_options.count:
        raise UsageError("--count and --if-reshard exclude each other: a forecast has no records "
                         "to count", "count what is there: leave --if-reshard out")
    if repair_options.policy.unresolved:
        raise UsageError(
            f"--policy {repair_options.policy.name} and --if-reshard exclude each other: it is "
            "resolved to numbers of records, and those of a forecast are not written yet",
            "leave --policy out: what breaks does not depend on it",
        )


def not_for_fix(if_reshard: Sequence[str] | None) -> None:
    """UsageError: there is nothing to repair before the reshard is made."""
    if if_reshard:
        raise UsageError(
            "--if-reshard is a forecast, and fix writes only what is wrong now",
            f"reshardctl inspect ... --if-reshard {shlex.quote(if_reshard[0])}; fix what "
            "inspect finds without it, reshard, then fix again",
        )
