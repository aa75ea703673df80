"""Every format, with a function for each thing that a command has to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from reshardctl.errors import ReshardError
from reshardctl.render.context import Context
from reshardctl.render.formats import REPORTS, write
from reshardctl.render.formats import Format as Name
from reshardctl.render.graph.drawings import ChartDocument
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Planned, Saved, Undoing


@dataclass(frozen=True)
class Format:
    """What `reshardctl.render.formats.write` makes of each result."""

    name: str

    def inspect(self, report: Report, context: Context) -> str:
        return write(report, self.name, context)

    def plan(
        self, report: Report, context: Context, *, dry_run: bool = True,
        saved: Saved | None = None,
    ) -> str:
        return write(Planned(report, dry_run, saved), self.name, context)

    def fixed(self, outcome: Fixed, context: Context) -> str:
        return write(outcome, self.name, context)

    def undo(self, undoing: Undoing, context: Context) -> str:
        return write(undoing, self.name, context)

    def error(self, failure: ReshardError, context: Context) -> str:
        return write(failure, self.name, context)


def _written(form: str, result, context: Context) -> str:
    return write(result, form, context)


FORMATS = {str(name): Format(name) for name in REPORTS}
AUDITS: Mapping[str, Callable[..., str]] = {str(name): partial(_written, name) for name in REPORTS}
MANY = AUDITS
DRAWN = [name for name in Name if ChartDocument.has(name.view)]
"""The formats of a picture."""
