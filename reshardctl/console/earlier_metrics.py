"""The metrics that new ones replace."""

from __future__ import annotations

from pathlib import Path

from reshardctl.console.choices import MetricsFormat
from reshardctl.console.destinations import Destination


def earlier_metrics(destination: Destination) -> str:
    """The metrics that a file holds and that new ones replace; "" for any other place."""
    if destination.file is None or not isinstance(destination.format, MetricsFormat):
        return ""
    from reshardctl.stores.named_file import text_of

    return text_of(Path(destination.file))
