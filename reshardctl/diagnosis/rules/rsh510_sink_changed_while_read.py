"""RSH510, see `pages/RSH510.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules.base import Found, Severity, rule
from reshardctl.diagnosis.rules.sinks import Sink


@rule("RSH510", "sink-changed-while-read")
def sink_changed_while_read(sink: Sink) -> Iterator[Found]:
    """One warning."""
    if sink.facts.changed:
        yield Found(
            Severity.WARNING, (),
            f"the sink changed while it was read: {sink.facts.changed}",
            "counts of this report may contradict each other",
            helps="stop what writes to it, and audit it again",
        )
