"""The rows that are written, as a unified diff for reviews; all else as comments above it.

The comments are the lines of the format `concise`; the rows are those of `row_diffs`.
"""

from __future__ import annotations

from collections.abc import Iterable

from reshardctl.model import Step
from reshardctl.planning.plan import Plan
from reshardctl.render.content.writes import row_diffs
from reshardctl.render.document import Document
from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.formats.concise import lines
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Planned, Undoing


def write(document: Document) -> str:
    """The comments, then the diff of each row, in the order in which rows are written."""
    safe = [escape(f"# {line}") for line in lines(document)]
    safe += [escape(line) for line in row_diffs(_steps(document))]
    if document.context.ascii:
        safe = [ascii_only(line) for line in safe]
    return "".join(f"{line}\n" for line in safe)


def _steps(document: Document) -> Iterable[Step]:
    match document.result:
        case Planned(Report() as report):
            return report.decision.steps if isinstance(report.decision, Plan) else ()
        case Fixed() | Undoing() as outcome:
            return outcome.steps
        case _:
            return ()
