"""The metrics that new ones replace."""

from __future__ import annotations

from pathlib import Path

from reshardctl.console.choices import MetricsFormat
from reshardctl.console.destinations import Destination
from reshardctl.stores.named_file import text_of


def earlier_metrics(destination: Destination) -> str:
    """The metrics that a file holds and that new ones replace; "" for any other place."""
    metrics = isinstance(destination.format, MetricsFormat)
    return text_of(Path(destination.file)) if metrics and destination.file is not None else ""
