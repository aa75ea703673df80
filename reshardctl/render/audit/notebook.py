"""An audit in a notebook: the page, in a frame of its own so that no style leaks either way."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.auditing.facts import Facts
from reshardctl.lineage import Lineage
from reshardctl.render.audit.html import page
from reshardctl.render.audit.text import audit
from reshardctl.render.console import Sheet
from reshardctl.render.context import Context
from reshardctl.render.finding_markup import frame
from reshardctl.report.audit import AuditReport, Stored, judge_sink


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
        return frame(page(self.report), self.height)


def show(facts: Facts, lineage: Lineage, stored: Stored | None = None) -> Shown:
    """Judge what `reshardctl.spark.audit.audit` has counted, to be displayed.

    counted = audit(frame, lineage=lineage)
    show(counted.facts, lineage)
    """
    return Shown(judge_sink(facts, lineage, stored))
