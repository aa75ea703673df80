"""What to do after an audit: complete commands, the most urgent first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reshardctl.diagnosis.rules import Severity
from reshardctl.report.audit import AuditReport, Way
from reshardctl.report.forecast import aid_for

US = "reshardctl"
ROWS = "offending-rows"
LISTED = frozenset({"RSH501", "RSH502", "RSH503", "RSH504", "RSH509"})
"""Findings whose rows `--rows` has."""
OF_A_START = frozenset({"RSH503", "RSH505", "RSH506"})
"""Findings that the consumer's next start may repeat or explain."""


def ways(
    report: AuditReport, again: Sequence[str], compared: Sequence[str], rebuild: Sequence[str],
    consumer: Sequence[str], *, until: bool,
) -> Iterator[Way]:
    """The commands as arguments.

    again: names this audit to `audit`; compared: the same, with the stream; rebuild: names its sink
    to `rebuild`, which reads the stream; consumer: names the consumer to other commands, empty if
    nothing can be written. until: whether the audit's window has an end.
    """
    grave = {f.code for f in report.findings if f.severity > Severity.INFO}
    lost = any(f.code == "RSH501" and f.severity is Severity.ERROR for f in report.findings)
    aid = aid_for(report.lineage.stream, report.findings, report.facts.taken)
    if aid is not None:
        yield Way(aid.argv(), "gives time: keeps records longer, costs money")
    if LISTED & grave and not report.saved:
        yield Way((US, "audit", *again, "--rows", ROWS), "the rows, as tables")
    if consumer and (lost or "RSH507" in grave):
        yield Way(
            (US, "rebuild", *consumer, *rebuild, "--dry-run"), "the positions that the sink proves"
        )
    if consumer and (lost or OF_A_START & grave):
        yield Way((US, "inspect", *consumer), "what the next start reads and skips")
    if not report.against_stream:
        yield Way((US, "audit", *compared), "are records missing? reads the stream")
    elif "RSH510" in grave and not until:
        yield Way((US, "audit", *again, "--until=-1h"), "a window that nothing writes to any more")
    worst = [f.code for f in report.findings if f.severity > Severity.INFO]
    if worst:
        yield Way((US, "rule", worst[0]), "what this means")
