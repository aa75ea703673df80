"""A finished shard whose end is stored as a plain number.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.effects import Harm
from reshardctl.model import Cause
from reshardctl.rules.base import Finding, Severity, View, from_effects

CODE, NAME = "RSH210", "position-at-end"


def match(view: View) -> Iterator[Finding]:
    """Warning: no record has that number, and what Kinesis answers to it is not known."""
    found = [e for e in view.effects if e.cause is Cause.AT_END and e.harm is Harm.STALLED]
    what = "its position is the shard's EndingSequenceNumber, which is no record's number"
    costs = "what Kinesis answers there is not known: it may end properly, or stall its children"
    yield from from_effects(CODE, NAME, found, what, costs, Severity.WARNING)
