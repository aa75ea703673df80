"""Snapshots of a stream and its consumers: taken, saved, judged, redacted.

Other rooms import what this file names, and `file`, `positions`, `printed`, `printed_rows`,
`redaction`, `resolve`, `skipped`, `take`. Read `take` first.
"""

from __future__ import annotations

from reshardctl.snapshot.take import (
    Overlaid,
    Ports,
    Stream,
    counted,
    probed,
    take,
    verified,
    verified_by_sample,
)

__all__ = [
    "Overlaid", "Ports", "Stream", "counted", "probed", "take", "verified", "verified_by_sample",
]
