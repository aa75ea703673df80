"""Results as text: pure functions from values to strings. One file a format, one line here."""

from __future__ import annotations

from collections.abc import Mapping

from reshardctl.render import (
    audit,
    concise,
    github,
    json,
    jsonl,
    junit,
    many,
    markdown,
    sarif,
    text,
)
from reshardctl.render.context import Context
from reshardctl.render.data import Result
from reshardctl.render.document import Document, Writer
from reshardctl.render.families import family
from reshardctl.render.outcomes import Fixed, Planned, Saved, Undoing

WRITERS: Mapping[str, Writer] = {
    "text": family("text", text, many.text, audit.text),
    "concise": family("concise", concise, many.concise, audit.concise),
    "json": json.write,
    "jsonl": jsonl.write,
    "markdown": family("markdown", markdown, many.markdown, audit.markdown),
    "github": family("github", github, many.github, audit.github),
    "junit": family("junit", junit, many.junit, audit.junit),
    "sarif": family("sarif", sarif, many.sarif, audit.sarif),
}


def write(result: Result, form: str, context: Context) -> str:
    """A result in one of the formats of `WRITERS`, as whole lines to be printed as they are."""
    return WRITERS[form](Document(result, context))


__all__ = ["WRITERS", "Context", "Fixed", "Planned", "Saved", "Undoing", "write"]
