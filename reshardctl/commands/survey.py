"""Reading a consumer and its stream, and judging what was read."""

from __future__ import annotations

from dataclasses import replace

from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import Report, Wishes, intervals_to_count, make, places_to_probe
from reshardctl.execution.ports import Ports
from reshardctl.planning.policy import LOSSLESS
from reshardctl.snapshot import Stream, counted, probed, take
from reshardctl.snapshot.resolve_policy import resolved, with_ends


def survey(
    ports: Ports, stream: str, locator: Locator, wishes: Wishes, probe: bool = False
) -> Report:
    """Read and judge. With `probe`, bounded reads settle what they can, and it is judged again.

    A policy by time comes back resolved to numbers, in the report's wishes.
    """
    snapshot = take(ports.kinesis, ports.store, stream, locator, ports.clock)
    return judged(ports.kinesis, snapshot, wishes, probe)


def judged(kinesis: Stream, snapshot: Snapshot, wishes: Wishes, probe: bool) -> Report:
    """Judge what was read, as `survey` does; the stream is asked for records alone."""
    if wishes.policy.unresolved:
        make(snapshot, replace(wishes, policy=LOSSLESS))  # no record is read of a wrong table
        wishes = replace(wishes, policy=resolved(wishes.policy, snapshot, kinesis))
    if probe and wishes.bootstrap:
        wishes = replace(wishes, policy=with_ends(wishes.policy, snapshot, kinesis))
    report = make(snapshot, wishes)
    if probe and (places := places_to_probe(report)):
        report = make(probed(snapshot, kinesis, places), wishes)
    if wishes.count and (intervals := intervals_to_count(report)):
        report = make(counted(report.snapshot, kinesis, intervals), wishes)
    return report
