"""An audit in a notebook: the page, in a frame of its own so that no style leaks either way."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from reshardctl.auditing.facts import Facts
from reshardctl.diagnosis.audit_report import AuditReport, Stored, judge_sink
from reshardctl.lineage import Lineage
from reshardctl.render.audit.html import page
from reshardctl.render.audit.text import audit
from reshardctl.render.console import Sheet
from reshardctl.render.context import Context


@dataclass(frozen=True, slots=True)
class Shown:
    """What a notebook displays of a report; `print` shows it as text."""

    report: AuditReport
    height: int = 900

    def __str__(self) -> str:
        sheet = Sheet(Context((self.report.facts.sink,), width=100))
        audit(sheet, self.report)
        return sheet.render()

    def _repr_html_(self) -> str:
        source = escape(page(self.report), quote=True)
        return (
            f'<iframe srcdoc="{source}" sandbox="" '
            f'style="width:100%;height:{self.height}px;border:0"></iframe>'
        )


def show(facts: Facts, lineage: Lineage, stored: Stored | None = None) -> Shown:
    """Judge what `reshardctl.spark.audit.audit` has counted, to be displayed.

    counted = audit(frame, lineage=lineage)
    show(counted.facts, lineage)
    """
    return Shown(judge_sink(facts, lineage, stored))
