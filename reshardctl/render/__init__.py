"""Results as text: pure functions from values to strings. One file a format, one line here.

Other rooms import what this file names, and `content`, `content.explanation`, `content.journals`,
`content.report`, `content.roundup`, `content.writes`, `context`, `escape`, `fixes`,
`formats.openmetrics`, `graph`, `graph.several`, `html`, `markup`, `status`, `words`. Read
`document` first.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from reshardctl.render.content import Result
from reshardctl.render.context import Context
from reshardctl.render.document import Document, Writer
from reshardctl.report.results import Fixed, Planned, Saved, Undoing


def _writer(module: str, function: str = "write") -> Writer:
    """A writer whose module is imported when it is first called: a command needs one format."""

    def write(document: Document) -> str:
        writer: Writer = getattr(import_module(f"{__name__}.{module}"), function)
        return writer(document)

    return write


WRITERS: Mapping[str, Writer] = {
    "text": _writer("formats.text"),
    "concise": _writer("formats.concise"),
    "json": _writer("formats.json"),
    "jsonl": _writer("formats.jsonl"),
    "markdown": _writer("formats.markdown"),
    "github": _writer("formats.github"),
    "junit": _writer("formats.junit"),
    "sarif": _writer("formats.sarif"),
    "diff": _writer("formats.diff"),
}

METRICS: Mapping[str, Writer] = {"openmetrics": _writer("formats.openmetrics")}
"""Formats that hold numbers of a judged consumer, and neither its report nor what is written."""


def write(result: Result, form: str, context: Context) -> str:
    """A result in a format of `WRITERS` or `METRICS`, as whole lines to be printed as they are."""
    writer = METRICS[form] if form in METRICS else WRITERS[form]
    return writer(Document(result, context))


__all__ = ["METRICS", "WRITERS", "Context", "Fixed", "Planned", "Saved", "Undoing", "write"]
