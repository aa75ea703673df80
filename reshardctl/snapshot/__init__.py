"""A stream and its consumers, frozen together: taken, kept in a file, judged, shown around."""

from __future__ import annotations

from reshardctl.snapshot.take import Records, Stream, counted, probed, take

__all__ = ["Records", "Stream", "counted", "probed", "take"]
