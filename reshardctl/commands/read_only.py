"""Stores that this tool can read and never write."""

from __future__ import annotations

from pathlib import Path

from reshardctl.consumers.locator import Locator
from reshardctl.errors import Refused

MEDIA = frozenset({"quickwit-http", "quickwit-https"})


def only_read(locator: Locator, dry_run: bool, out: Path | None) -> None:
    """Raises Refused, before any read, for a write to such a store or a plan of one."""
    if locator.medium not in MEDIA or (dry_run and out is None):
        return
    from reshardctl.stores.quickwit.rest import READ_ONLY, WHERE

    raise Refused(f"{locator.text} cannot be written to: {READ_ONLY}", WHERE)
