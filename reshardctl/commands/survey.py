"""Reads a consumer and its stream, and judges what was read."""

from __future__ import annotations

from dataclasses import replace

from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.execution.ports import Ports
from reshardctl.planning.policy import LOSSLESS
from reshardctl.report.report import (
    RepairOptions,
    Report,
    intervals_to_count,
    make,
    places_to_probe,
)
from reshardctl.snapshot import Stream, counted, probed, take
from reshardctl.snapshot.resolve import resolved, resolved_positions, with_ends


def survey(
    ports: Ports, stream: str, locator: Locator, options: RepairOptions, probe: bool = False
) -> Report:
    """Reads a consumer's rows and its stream, and judges them.

    A policy by time comes back resolved to numbers, in the report's options. probe: bounded reads
    decide what they can, and everything is judged again.
    """
    snapshot = take(ports.kinesis, ports.store, stream, locator, ports.clock)
    return judged(ports.kinesis, snapshot, options, probe)


def judged(kinesis: Stream, snapshot: Snapshot, options: RepairOptions, probe: bool) -> Report:
    """Judges what was read, as `survey` does; the stream is asked for records only."""
    if options.policy.unresolved:
        make(snapshot, replace(options, policy=LOSSLESS))  # a wrong table is refused first
        resolve = resolved if options.policy.given is None else resolved_positions
        options = replace(options, policy=resolve(options.policy, snapshot, kinesis))
    if probe and options.bootstrap:
        options = replace(options, policy=with_ends(options.policy, snapshot, kinesis))
    report = make(snapshot, options)
    if probe and (places := places_to_probe(report)):
        report = make(probed(snapshot, kinesis, places), options)
    if options.count and (intervals := intervals_to_count(report)):
        report = make(counted(report.snapshot, kinesis, intervals), options)
    return report
