"""Preflight: what breaks at the first start after a reshard that has not been made.

The rows stay as they are, because nothing has been read since: a consumer that is stopped, starts
at LATEST or has broken rows breaks there. One that runs through the reshard creates its children's
rows itself, as far as its rows allow, and meets the same at that time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import Report, make
from reshardctl.lineage import Reshard, foresee
from reshardctl.model import ShardId


def foreseen(snapshot: Snapshot, reshards: Sequence[Reshard]) -> Snapshot:
    """The same rows over the future lineage, at the time at which the reshard is finished.

    Probes of shards that it closes are kept only where they found records: that an open shard was
    read to its tip says nothing about what comes until it closes. Raises UsageError and CannotTell,
    see `foresee`.
    """
    future = foresee(snapshot.lineage, reshards, snapshot.now)
    probes = {
        shard: probe for shard, probe in snapshot.probes.items()
        if shard not in future.closes or not probe.drained
    }
    return replace(
        snapshot, lineage=future.lineage, probes=probes, foreseen=future,
        now=max(snapshot.now, float(future.until)),
    )


def forecast(now: Report, reshards: Sequence[Reshard]) -> Report:
    """The report after these reshards, with what is true already."""
    report = make(foreseen(now.snapshot, reshards), now.options)
    return replace(report, already=_by_code(now))


def _by_code(report: Report) -> Mapping[str, frozenset[ShardId]]:
    by_code: dict[str, frozenset[ShardId]] = {}
    for finding in report.findings:
        by_code[finding.code] = by_code.get(finding.code, frozenset()).union(finding.shards)
    return by_code
