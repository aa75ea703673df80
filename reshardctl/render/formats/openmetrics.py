"""For monitoring: gauges of judged consumers as OpenMetrics text, for Prometheus to read.

The names and meanings are those of docs/watching.md. A value that is not known has no sample. A
consumer that could not be judged has `reshardctl_up` 0 and the timestamp of its last success, which
is taken from the metrics that these replace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from reshardctl.render.document import Document, Measured
from reshardctl.render.escape import escape
from reshardctl.report.lag import Lag, lags_of, worst_of
from reshardctl.report.report import Report
from reshardctl.report.workers import migrations_of, ownership_of, room_of

UP, SUCCESS = "reshardctl_up", "reshardctl_last_success_timestamp_seconds"
FAMILIES: Mapping[str, tuple[str, str]] = {
    UP: ("", "Whether the last look could judge the consumer (1) or not (0)."),
    SUCCESS: ("seconds", "Unix time of the last look that could judge the consumer."),
    "reshardctl_retention_seconds": ("seconds", "Retention period of the stream."),
    "reshardctl_finding": (
        "", "Shards with a finding of a rule; 1 if it concerns the consumer as a whole.",
    ),
    "reshardctl_oldest_unread_seconds": (
        "seconds", "Time since the oldest unread record arrived; 0 if none is unread.",
    ),
    "reshardctl_retention_margin_seconds": (
        "seconds", "Time until unread records begin to expire; negative if they may have begun to.",
    ),
    "reshardctl_lag_retention_ratio": (
        "ratio", "Age of the oldest unread record as a part of the retention period, 1 for all.",
    ),
    "reshardctl_expired_unread": ("", "Shards of which unread records may have expired."),
    "reshardctl_position_age_seconds": (
        "seconds", "Time since the record of the stored position was written.",
    ),
    "reshardctl_workers": ("", "Workers that own a shard or have a row of their own."),
    "reshardctl_idle_workers": ("", "Workers without an unfinished shard."),
    "reshardctl_worker_shards": ("", "Unfinished shards of the worker with the most."),
    "reshardctl_unowned_shards": ("", "Unfinished shards with a position and without an owner."),
    "reshardctl_leases_without_room": (
        "", "Leases that find no worker, as none may hold more than max-leases.",
    ),
    "reshardctl_migration": (
        "", "1 for the state of a migration of the application's own state.",
    ),
}
"""Each metric with its unit, "" for none, and its help, in the order in which they are written."""

_OLD = re.compile(
    rf'({UP}|{SUCCESS})'
    r'\{(stream="(?:[^"\\\n]|\\.)*",consumer="(?:[^"\\\n]|\\.)*")\} (\d+(?:\.\d+)?)$', re.ASCII,
)
Samples = Mapping[str, list[str]]


class _Text(Struct, frozen=True):
    """The samples of each metric."""

    samples: Samples = field(default_factory=lambda: {name: [] for name in FAMILIES})

    def add(self, name: str, labels: str, value: float | None) -> None:
        if value is not None:
            self.samples[name].append(f"{name}{{{labels}}} {_number(value)}")

    def lines(self) -> Iterator[str]:
        for name, (unit, says) in FAMILIES.items():
            yield f"# HELP {name} {says}"
            yield f"# TYPE {name} gauge"
            if unit:
                yield f"# UNIT {name} {unit}"
            yield from self.samples[name]
        yield "# EOF"


def write(document: Document[Any]) -> str:
    """The metrics of consumers; where none was reached, what is left of the earlier ones."""
    measured = document.metrics()
    if measured is None:
        return _unreached(document.context.earlier)
    return of_consumers(measured, document.context.earlier, document.context.per_shard)


def of_consumers(measured: Iterable[Measured], earlier: str = "", per_shard: bool = False) -> str:
    """The metrics of several consumers.

    earlier: the text that this one replaces. per_shard: whether shards and workers have series of
    their own instead of one for the worst of them.
    """
    text, old = _Text(), _timestamps(earlier)
    for each in measured:
        stream = each.stream.rpartition("/")[2] if each.stream.startswith("arn:") else each.stream
        labels = _labels({"stream": stream, "consumer": each.consumer})
        if each.report is None:
            _failed(text, labels, old.get(labels))
        else:
            _judged(text, labels, each.report, per_shard)
    return _whole(text)


def _unreached(earlier: str) -> str:
    """Nothing was looked at: every consumer of the earlier metrics is down."""
    text = _Text()
    for labels, timestamp in _timestamps(earlier).items():
        _failed(text, labels, timestamp)
    return _whole(text)


def _failed(text: _Text, labels: str, timestamp: float | None) -> None:
    text.add(UP, labels, 0)
    text.add(SUCCESS, labels, timestamp)


def _judged(text: _Text, labels: str, report: Report, per_shard: bool) -> None:
    retention = report.snapshot.lineage.stream.retention
    text.add(UP, labels, 1)
    text.add(SUCCESS, labels, report.snapshot.now)
    text.add("reshardctl_retention_seconds", labels, retention)
    for (rule, severity), shards in _findings(report).items():
        own = f"{labels},{_labels({'rule': rule, 'severity': severity})}"
        for shard in shards if per_shard else ():
            text.add("reshardctl_finding", f"{own},{_labels({'shard': shard})}", 1)
        if not per_shard:
            text.add("reshardctl_finding", own, len(shards))
    lags = lags_of(report)
    for shard, lag in lags if per_shard else ():
        _lag(text, f"{labels},{_labels({'shard': shard})}", lag, retention)
    if not per_shard:
        _lag(text, labels, worst_of(lag for _, lag in lags), retention)
    _owned(text, labels, report, per_shard)


def _findings(report: Report) -> dict[tuple[str, str], Sequence[str]]:
    """Rule and severity → shards, "" for the consumer as a whole."""
    shards: dict[tuple[str, str], dict[str, None]] = {}
    for finding in report.findings:
        concerned = shards.setdefault((finding.code, str(finding.severity)), {})
        concerned.update(dict.fromkeys(finding.shards or ("",)))
    return {key: tuple(concerned) for key, concerned in shards.items()}


def _lag(text: _Text, labels: str, lag: Lag, retention: int) -> None:
    oldest = lag.measured_seconds
    text.add("reshardctl_oldest_unread_seconds", labels, oldest)
    text.add("reshardctl_retention_margin_seconds", labels, lag.margin)
    if oldest is not None and retention:
        text.add("reshardctl_lag_retention_ratio", labels, oldest / retention)
    text.add("reshardctl_expired_unread", labels, lag.expired)
    text.add("reshardctl_position_age_seconds", labels, lag.position_age)


def _owned(text: _Text, labels: str, report: Report, per_shard: bool) -> None:
    """Who owns how much; nothing of a library that stores no owners."""
    if not report.snapshot.locator.spec.owner_attributes:
        return
    owned = ownership_of(report)
    shards = owned.workers
    text.add("reshardctl_workers", labels, len(shards))
    text.add("reshardctl_idle_workers", labels, owned.idle)
    for worker, number in sorted(shards.items()) if per_shard else ():
        text.add("reshardctl_worker_shards", f"{labels},{_labels({'worker': worker})}", number)
    if not per_shard:
        text.add("reshardctl_worker_shards", labels, max(shards.values(), default=None))
    text.add("reshardctl_unowned_shards", labels, owned.unowned)
    if (room := room_of(report)) is not None:
        text.add("reshardctl_leases_without_room", labels, room.without)
    for migration in migrations_of(report):
        own = _labels({"migration": migration.name, "state": migration.state})
        text.add("reshardctl_migration", f"{labels},{own}", 1)


def _timestamps(earlier: str) -> dict[str, float | None]:
    """The consumers of earlier metrics, as labels, with the time of their last success."""
    times: dict[str, float | None] = {}
    for name, labels, value in (match.groups() for match in map(_OLD.match, earlier.split("\n"))
                                if match):
        if name == SUCCESS:
            times[labels] = float(value)
        else:
            times.setdefault(labels, None)
    return times


def _whole(text: _Text) -> str:
    return "".join(f"{line}\n" for line in text.lines())


def _labels(pairs: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs.items())


def _escaped(text: str) -> str:
    """A label's value: nothing invisible, and what the OpenMetrics text format escapes."""
    return escape(text).replace("\\", r"\\").replace('"', r"\"")


def _number(value: float) -> str:
    """At most three decimals, six below 1; no exponent."""
    return f"{value:.{3 if abs(value) >= 1 else 6}f}".rstrip("0").rstrip(".")
