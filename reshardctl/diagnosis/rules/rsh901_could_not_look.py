"""RSH901, see `pages/RSH901.md`."""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import elsewhere

# Raised by any read that failed or came short, exit 3.
elsewhere("RSH901", "could-not-look")
