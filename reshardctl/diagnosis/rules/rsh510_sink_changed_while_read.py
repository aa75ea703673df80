"""RSH510, see `pages/RSH510.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Finding, Severity
from reshardctl.diagnosis.rules.sinks import Sink

CODE, NAME = "RSH510", "sink-changed-while-read"


def match(sink: Sink) -> Iterator[Finding]:
    """One warning."""
    if sink.facts.changed:
        yield Finding(
            CODE, NAME, Severity.WARNING, (),
            f"the sink changed while it was read: {sink.facts.changed}",
            "counts of this report may contradict each other",
            helps="stop what writes to it, and audit it again",
        )
