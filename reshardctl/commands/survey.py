"""Reading a consumer and its stream, and judging what was read."""

from __future__ import annotations

from dataclasses import replace

from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import (
    RepairOptions,
    Report,
    intervals_to_count,
    make,
    places_to_probe,
)
from reshardctl.execution.ports import Ports
from reshardctl.planning.policy import LOSSLESS
from reshardctl.snapshot import Stream, counted, probed, take
from reshardctl.snapshot.resolve_policy import resolved, with_ends


def survey(
    ports: Ports, stream: str, locator: Locator, repair_options: RepairOptions, probe: bool = False
) -> Report:
    """Read and judge. With `probe`, bounded reads settle what they can, and it is judged again.

    A policy by time comes back resolved to numbers, in the report's options.
    """
    snapshot = take(ports.kinesis, ports.store, stream, locator, ports.clock)
    return judged(ports.kinesis, snapshot, repair_options, probe)


def judged(
    kinesis: Stream, snapshot: Snapshot, repair_options: RepairOptions, probe: bool
) -> Report:
    """Judge what was read, as `survey` does; the stream is asked for records alone."""
    if repair_options.policy.unresolved:
        make(
            snapshot, replace(repair_options, policy=LOSSLESS)
        )  # no record is read of a wrong table
        repair_options = replace(
            repair_options, policy=resolved(repair_options.policy, snapshot, kinesis)
        )
    if probe and repair_options.bootstrap:
        repair_options = replace(
            repair_options, policy=with_ends(repair_options.policy, snapshot, kinesis)
        )
    report = make(snapshot, repair_options)
    if probe and (places := places_to_probe(report)):
        report = make(probed(snapshot, kinesis, places), repair_options)
    if repair_options.count and (intervals := intervals_to_count(report)):
        report = make(counted(report.snapshot, kinesis, intervals), repair_options)
    return report
