"""Reports as text: pure functions from values to strings. One file a format, one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from reshardctl.diagnosis.report import Report
from reshardctl.errors import ReshardError
from reshardctl.render import concise, github, json, jsonl, junit, markdown, sarif, text
from reshardctl.render.context import Context
from reshardctl.render.outcomes import Fixed, Saved, Undoing


class Format(Protocol):
    """What a format can show. Every method returns whole lines, to be printed as they are."""

    def inspect(self, report: Report, context: Context) -> str:
        """Findings."""

    def plan(
        self, report: Report, context: Context, *, dry_run: bool = True,
        saved: Saved | None = None,
    ) -> str:
        """What fix would write. Without `dry_run`: shown before it is asked for."""

    def fixed(self, outcome: Fixed, context: Context) -> str:
        """An applied plan."""

    def undo(self, undoing: Undoing, context: Context) -> str:
        """An undo, wanted or done."""

    def error(self, failure: ReshardError, context: Context) -> str:
        """A failure."""


FORMATS: Mapping[str, Format] = {
    "text": text, "concise": concise, "json": json, "jsonl": jsonl, "markdown": markdown,
    "github": github, "junit": junit, "sarif": sarif,
}

__all__ = ["FORMATS", "Context", "Fixed", "Format", "Saved", "Undoing"]
