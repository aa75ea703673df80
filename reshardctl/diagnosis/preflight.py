"""Preflight: what breaks at the first start after a reshard that nobody has made. Pure.

The rows stay as they are, for nobody has read on: a consumer that stands, starts at LATEST or has
broken rows breaks there. One that runs through the reshard makes its children's rows itself, as
far as its rows let it, and meets the same at its crossing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import Report, make
from reshardctl.lineage import Reshard, foresee
from reshardctl.model import ShardId


def foreseen(snapshot: Snapshot, reshards: Sequence[Reshard]) -> Snapshot:
    """The same rows over the lineage as it would be, at the moment when the reshard is over.

    Probes of shards that it closes are kept only where they met records: that an open shard was
    read to its tip says nothing of what comes until it closes. UsageError, CannotTell: `foresee`.
    """
    found = foresee(snapshot.lineage, reshards, snapshot.now)
    probes = {
        shard: probe for shard, probe in snapshot.probes.items()
        if shard not in found.closes or not probe.drained
    }
    return replace(
        snapshot, lineage=found.lineage, probes=probes, foreseen=found,
        now=max(snapshot.now, float(found.until)),
    )


def forecast(now: Report, reshards: Sequence[Reshard]) -> Report:
    """What a report would be after these reshards; it tells what is so already."""
    report = make(foreseen(now.snapshot, reshards), now.options)
    return replace(report, already=_by_code(now))


def _by_code(report: Report) -> Mapping[str, frozenset[ShardId]]:
    found: dict[str, frozenset[ShardId]] = {}
    for finding in report.findings:
        found[finding.code] = found.get(finding.code, frozenset()).union(finding.shards)
    return found
