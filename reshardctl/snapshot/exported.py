"""The positions of a consumer, as `export` writes them."""

from __future__ import annotations

from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.planning.as_given import stored_positions
from reshardctl.report.report import RepairOptions, case_of
from reshardctl.snapshot.positions_file import ExportedPositions


def exported_of(snapshot: Snapshot) -> ExportedPositions:
    """The positions in a snapshot."""
    stream, case = snapshot.lineage.stream, case_of(snapshot, RepairOptions())
    return ExportedPositions(
        snapshot.locator.text, stream.arn, stream.created, snapshot.now,
        tuple(stored_positions(case)),
    )
