"""RSH401, see `pages/RSH401.md`."""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import raised_elsewhere

CODE, NAME = "RSH401", "consumer-running"
match = raised_elsewhere
"""Raised by the watch of fix and undo, before they write, exit 4."""
