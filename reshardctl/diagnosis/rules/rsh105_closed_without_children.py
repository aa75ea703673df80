"""RSH105, see `pages/RSH105.md`."""

from __future__ import annotations

from reshardctl.diagnosis.rules.base import elsewhere

# Raised while the stream is listed (reshardctl/lineage/breaches.py), exit 3.
elsewhere("RSH105", "closed-without-children")
