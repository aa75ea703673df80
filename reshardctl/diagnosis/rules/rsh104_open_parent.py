"""RSH104, see `pages/RSH104.md`."""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import elsewhere

# Raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3.
elsewhere("RSH104", "open-parent")
