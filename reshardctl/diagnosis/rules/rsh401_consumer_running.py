"""RSH401, see `pages/RSH401.md`."""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import elsewhere

# Raised by the watch of fix and undo, before they write, exit 4.
elsewhere("RSH401", "consumer-running")
