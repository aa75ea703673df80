"""The picture and the texts of docs/status.md: the case `chain-middle-lost`, as from a snapshot.

`python -m tests.unit.render.graph.docs_picture` writes docs/graph.svg anew.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from reshardctl.render.graph.chart import Chart, chart_of
from reshardctl.render.graph.drawings import ChartDocument
from tests.unit.render.samples import report_of

ROOT = Path(__file__).parents[4]
PAGE, PICTURE = ROOT / "docs" / "status.md", ROOT / "docs" / "graph.svg"


def chart() -> Chart:
    """The chart of the page."""
    report = report_of("chain-middle-lost", "initial=LATEST&release=3.5.1")
    drawn = chart_of(report.snapshot.lineage, report.snapshot.now, report)
    return replace(drawn, consumer="snapshot:orders.snapshot")


def picture() -> str:
    """What docs/graph.svg has to hold."""
    return ChartDocument(chart()).picture()


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
