"""Pictures as texts, in the format that a test names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reshardctl.lineage import Lineage
from reshardctl.render.formats import Format
from reshardctl.render.graph.drawings import drawing, drawing_of_several
from reshardctl.report.report import Report
from tests.support.case import Case
from tests.unit.render.graph.samples import lineage_on


def draw(form: str, report: Report, **more: Any) -> str:
    """The picture of a stream with one consumer."""
    at = report.snapshot
    return Format(form).write(drawing(at.lineage, at.now, report, **more))


def draw_several(form: str, reports: Sequence[tuple[str, Report]], **more: Any) -> str:
    """The picture of several consumers of a stream, by their names."""
    at = reports[0][1].snapshot
    return Format(form).write(drawing_of_several(at.lineage, at.now, reports, **more))


def draw_stream(form: str, stream: Case | Lineage, now: float | None = None) -> str:
    """The picture of a stream alone; of a case as it is now, if nothing else is said."""
    lineage = lineage_on(stream) if isinstance(stream, Case) else stream
    at = float(stream.now) if now is None and isinstance(stream, Case) else now
    assert at is not None
    return Format(form).write(drawing(lineage, at))
