"""A baseline: an earlier report whose findings are known, so that only new ones count.

For a pipeline that must not fail over existing findings. Unlike a suppression it needs no reason
and has no end; `--format json` makes it, and makes it again when it is outdated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from reshardctl.codec.strict import (
    JsonPath,
    array,
    list_of,
    mapping,
    parse,
    string,
    strings,
    written_moment,
)
from reshardctl.diagnosis.evidence import Earlier, Whose, whose
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.diagnosis.rules.base import Suppression
from reshardctl.errors import UsageError
from reshardctl.model import ShardId
from reshardctl.report.report import Report

REPORT, ROUNDUP = "reshardctl/report/2", "reshardctl/roundup/2"
MAKE = "make one: reshardctl inspect CONSUMER --stream STREAM --format json -o FILE"


class Known(Suppression, frozen=True):
    """A finding of the earlier report. One of more shards, or of higher severity, is new."""

    worst: Severity = Severity.ERROR

    def covers(self, finding: Finding) -> bool:
        """Whether it is the same finding, or a part of it."""
        return (
            finding.code == self.rule and self.shards >= set(finding.shards)
            and finding.severity <= self.worst
        )


class Baseline(Struct, frozen=True):
    """Known findings and positions, by stream ARN and the store's identity."""

    known: Mapping[Whose, tuple[Known, ...]]
    earlier: Mapping[Whose, Earlier]

    def of(self, report: Report) -> tuple[Known, ...]:
        """The findings known of this stream and store, under whatever name."""
        return self.known.get(whose(report.snapshot), ())

    def shows(self, report: Report) -> bool:
        """Whether the baseline has this stream and store."""
        return whose(report.snapshot) in self.earlier

    @property
    def contents(self) -> list[str]:
        """The streams and stores in the baseline, a line each."""
        return sorted(
            f"{arn}: {', '.join(value for _, value in sorted(store))}"
            for arn, store in self.earlier
        )


def parsed(source: str | bytes, name: str) -> Baseline:
    """The baseline in a JSON report. name: what messages call it. Raises UsageError."""
    json_path = JsonPath(name, next=MAKE)
    body = parse(source, json_path)
    schema = body.get("schema") if isinstance(body, dict) else None
    if schema not in (REPORT, ROUNDUP):
        either = f"{REPORT} or {ROUNDUP}"
        raise UsageError(f"{name}: not a report of this version ({either})", MAKE)
    known, earlier = {}, {}
    for report, inside in _reports(body, json_path):
        stream = mapping(report.get("stream"), inside / "stream")
        store = strings(report.get("store"), inside / "store")
        key = (string(stream.get("arn"), inside / "stream" / "arn"), frozenset(store.items()))
        taken = string(report.get("taken"), inside / "taken")
        known[key] = list_of(
            report.get("findings"), inside / "findings", partial(_known, name, taken)
        )
        earlier[key] = _earlier(report, taken, inside)
    return Baseline(known, earlier)


def _earlier(report: dict[str, Any], taken: str, json_path: JsonPath) -> Earlier:
    positions = strings(report.get("positions", {}), json_path / "positions")
    return Earlier(
        written_moment(taken, json_path / "taken"),
        {ShardId(shard): raw for shard, raw in positions.items()},
    )


def _reports(
    body: dict[str, Any], json_path: JsonPath
) -> Iterator[tuple[dict[str, Any], JsonPath]]:
    if body["schema"] == REPORT:
        yield body, json_path
        return
    for number, entry in enumerate(array(body.get("consumers"), json_path / "consumers")):
        inside = json_path / "consumers" / number
        if mapping(entry, inside).get("report") is not None:  # it could not be judged then
            report = mapping(entry["report"], inside / "report")
            yield {**report, "findings": _with_known(report, entry)}, inside / "report"


def _with_known(report: dict[str, Any], entry: dict[str, Any]) -> object:
    """Adds findings that an older baseline hid; a suppression's return at its end."""
    findings, hidden = report.get("findings"), entry.get("suppressed", [])
    if not isinstance(findings, list) or not isinstance(hidden, list):
        return findings
    known = [entry for entry in hidden if isinstance(entry, dict) and _endless(entry.get("by"))]
    return findings + [entry.get("finding") for entry in known]


def _endless(by: object) -> bool:
    return isinstance(by, dict) and by.get("until", 0) is None


def _known(file: str, taken: str, value: object, json_path: JsonPath) -> Known:
    found = mapping(value, json_path)
    severity = string(found.get("severity"), json_path / "severity").upper()
    if severity not in Severity.__members__:
        (json_path / "severity").wrong(f"no severity is called {severity.lower()!r}")
    return Known(
        "", string(found.get("code"), json_path / "code"),
        frozenset(list_of(found.get("shards"), json_path / "shards", string)),
        None, f"known since {taken}", file, worst=Severity[severity],
    )
