"""RSH901, see `pages/RSH901.md`."""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import raised_elsewhere

CODE, NAME = "RSH901", "could-not-look"
match = raised_elsewhere
"""Raised by any read that failed or came short, exit 3."""
