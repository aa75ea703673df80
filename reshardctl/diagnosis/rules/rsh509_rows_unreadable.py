"""RSH509, see `pages/RSH509.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.auditing.facts import Fault
from reshardctl.diagnosis.rules.base import Found, rule
from reshardctl.diagnosis.rules.sinks import Sink, with_faults

WORDS = {
    Fault.NO_NUMBER: "they have no sequence number",
    Fault.NOT_NUMERIC: "what stands for the sequence number is no number",
    Fault.ODD_LENGTH: "the value for the sequence number does not have the 56 digits of one",
}
COSTS = "they may be records that count as missing otherwise"
HELPS = "for a list of them: audit --rows DIR; another column: --column number=COLUMN"


@rule("RSH509", "rows-unreadable")
def rows_unreadable(sink: Sink) -> Iterator[Found]:
    """One warning for each fault."""
    yield from with_faults(sink, WORDS, COSTS, HELPS)
