"""A report as an HTML page: findings, picture and table of a consumer; for notebooks.

No script and nothing from elsewhere; a policy in it forbids both.
"""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.diagnosis.rules import Finding
from reshardctl.errors import ReshardError
from reshardctl.model.times import instant
from reshardctl.render import finding_markup
from reshardctl.render.graph.chart import chart_of
from reshardctl.render.graph.html import drawn
from reshardctl.render.graph.page import html_page
from reshardctl.render.graph.style import PAGE
from reshardctl.render.graph.xml import safe
from reshardctl.render.words import absolute, sentence
from reshardctl.report.report import Report
from reshardctl.report.results import Entry

NOTHING = "No findings."


def page(entry: Entry) -> str:
    """The page of one consumer, ASCII; its report, or why there is none."""
    return html_page(entry.name, _consumer(entry), f"{PAGE}{finding_markup.STYLE}")


def _consumer(entry: Entry) -> Iterator[str]:
    yield f"<h1>{safe(entry.name)}</h1>"
    if entry.report is not None:
        yield from _report(entry.report)
    if entry.failure is not None:
        yield from _failed(entry.failure)


def _report(report: Report) -> Iterator[str]:
    snapshot = report.snapshot
    stream = snapshot.lineage.stream
    yield f"<p>{safe(stream.arn)} &#183; read {safe(instant(snapshot.now))}</p>"
    if not report.findings:
        yield f"<p>{NOTHING}</p>"
    for finding in report.findings:
        yield from finding_markup.drawn(finding, _when(finding))
    chart = chart_of(snapshot.lineage, snapshot.now, report)
    if chart.crash:
        yield f'<p class="crash">{safe(chart.crash)}</p>'
    yield from drawn(chart)


def _when(finding: Finding) -> str:
    if finding.deadline is None or not finding.effects:
        return ""
    return absolute(finding.effects, finding.deadline)


def _failed(failure: ReshardError) -> Iterator[str]:
    yield f'<p class="bad">{safe(sentence(failure.what))}</p>'
    if failure.next:
        yield f"<p>{safe(sentence(failure.next))}</p>"
