"""Results as text: pure functions from values to strings. One file a format, one line here."""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.render import (
    concise,
    diff,
    github,
    json,
    jsonl,
    junit,
    markdown,
    openmetrics,
    sarif,
    text,
)
from reshardctl.render.context import Context
from reshardctl.render.data import Result
from reshardctl.render.document import Document, Writer
from reshardctl.render.outcomes import Fixed, Planned, Saved, Undoing

WRITERS: Mapping[str, Writer] = {
    "text": text.write,
    "concise": concise.write,
    "json": json.write,
    "json1": json.write_version_1,
    "jsonl": jsonl.write,
    "markdown": markdown.write,
    "github": github.write,
    "junit": junit.write,
    "sarif": sarif.write,
    "diff": diff.write,
}

METRICS: Mapping[str, Writer] = {"openmetrics": openmetrics.write}
"""Formats that hold numbers of a judged consumer, and neither its report nor what is written."""


def write(result: Result, form: str, context: Context) -> str:
    """A result in a format of `WRITERS` or `METRICS`, as whole lines to be printed as they are."""
    writer = METRICS[form] if form in METRICS else WRITERS[form]
    return writer(Document(result, context))


__all__ = ["METRICS", "WRITERS", "Context", "Fixed", "Planned", "Saved", "Undoing", "write"]
