"""`--baseline FILE`: an earlier report or snapshot, read from disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reshardctl.codec.strict import REPORT, ROUNDUP, SNAPSHOT, JsonPath, or_another_kind, parse
from reshardctl.commands.target import Target
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Earlier, Whose, whose
from reshardctl.report.baseline import MAKE, Baseline, parsed
from reshardctl.report.report import Report
from reshardctl.snapshot import file as snapshots
from reshardctl.snapshot.file import SavedSnapshot
from reshardctl.stores.given_file import content


def baseline_of(path: Path) -> Baseline:
    """The findings and rows of the file. A snapshot has no findings, only rows.

    UsageError for a file that is neither.
    """
    source = content(path, MAKE)
    with or_another_kind(source, str(path), "a report or a snapshot", REPORT, ROUNDUP, SNAPSHOT):
        return _parsed(source, path)


def _parsed(source: bytes, path: Path) -> Baseline:
    body = parse(source, JsonPath(str(path), next=MAKE))
    if isinstance(body, dict) and body.get("schema") == snapshots.VERSION:
        return Baseline({}, _earlier(snapshots.parsed(source, str(path))))
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
