"""RSH103, see `pages/RSH103.md`."""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import elsewhere

# Raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3.
elsewhere("RSH103", "hash-range-hole")
