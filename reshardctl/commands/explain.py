"""`explain`: one shard's life, its position, and what the next start does with it."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.survey import survey
from reshardctl.commands.target import Selection
from reshardctl.commands.targets.named import one
from reshardctl.diagnosis.report import Report
from reshardctl.errors import UsageError
from reshardctl.model import ShardId, shard_named


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainRequest(Selection):
    """Which shard to explain, and for which consumer."""

    shard: str
    """Its number or its id."""
    consumer: str
    """A locator, a name in reshardctl.toml, or `snapshot:FILE`."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The report of one consumer, and the shard that was asked about."""

    report: Report
    shard: ShardId


def explain(request: ExplainRequest, observer: Observer = SILENT) -> Explanation:
    """Judges the consumer's next start. Writes nothing.

    Raises UsageError for a shard that neither the stream nor the store knows.
    """
    target = one(request.consumer, request, observer)
    report = survey(
        target.ports(), target.stream, target.locator, target.repair_options, target.probe
    )
    shard = shard_named(request.shard)
    lineage = report.snapshot.lineage
    if shard not in lineage and shard not in report.positions:
        raise UsageError(
            f"{shard!r} is not listed in {lineage.stream.name}, and no position names it",
            "reshardctl inspect lists what is there",
        )
    return Explanation(report, shard)
