"""Every format: its name, the view of a document that it writes, and the function that does it.

A new format is a line here and a function from a `Document` to whole lines. `--format` of a command
offers the formats whose view the document of its result has.
"""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from reshardctl.render.content.documents import Result
    from reshardctl.render.context import Context
    from reshardctl.render.document import Document


class Format(StrEnum):
    """The formats, in the order in which they are named.

    view: a method of `Document`. writer: file and function below `reshardctl.render`, imported when
    it is first called; none where the view is the text itself. one_document: a program reads
    exactly one document per command, so that no plan comes before the outcome. spoken: a program
    reads stdout, errors too.
    """

    view: str
    writer: str
    one_document: bool
    spoken: bool

    def __new__(
        cls, name: str, view: str = "", writer: str = "", one_document: bool = False,
        spoken: bool = False,
    ) -> Self:
        """A member that is its name."""
        form = str.__new__(cls, name)
        form._value_, form.view, form.writer = name, view, writer
        form.one_document, form.spoken = one_document, one_document or spoken
        return form

    TEXT = "text", "screen", "formats.plain:text"
    DOT = "dot", "chart", "graph.export:dot"
    MERMAID = "mermaid", "chart", "graph.export:mermaid"
    GRAPHML = "graphml", "chart", "graph.export:graphml"
    CONCISE = "concise", "lines", "formats.plain:concise"
    JSON = "json", "data", "formats.plain:json", True
    JSONL = "jsonl", "records", "formats.plain:jsonl", True
    MARKDOWN = "markdown", "runbook", "formats.plain:markdown"
    GITHUB = "github", "notices", "formats.github:write", False, True
    JUNIT = "junit", "subjects", "formats.junit:write", True
    SARIF = "sarif", "subjects", "formats.sarif:write", True
    DIFF = "diff", "rows", "formats.plain:diff"
    CSV = "csv", "table", "formats.plain:csv"
    AWS_CLI = "aws-cli", "by_hand", "formats.by_hand:aws_cli"
    PSQL = "psql", "by_hand", "formats.by_hand:psql"
    MYSQL = "mysql", "by_hand", "formats.by_hand:mysql"
    REDIS_CLI = "redis-cli", "by_hand", "formats.by_hand:redis_cli"
    OPENMETRICS = "openmetrics", "metrics", "formats.openmetrics:write", True
    SVG = "svg", "picture"
    HTML = "html", "page"

    def write(self, document: Document[Any]) -> str:
        """The document as whole lines, to be printed as they are."""
        text: str
        if self.writer:
            module, _, function = self.writer.partition(":")
            text = getattr(import_module(f"reshardctl.render.{module}"), function)(document)
        else:
            text = getattr(document, self.view)()
        return text


def write(result: Result, form: str, context: Context) -> str:
    """A result in a format, as whole lines, to be printed as they are."""
    from reshardctl.render.content.documents import document_of

    return Format(form).write(document_of(result, context))


def formats_of(*views: str) -> list[Format]:
    """The formats that write one of these views."""
    return [form for form in Format if form.view in views]


REPORTS = formats_of(
    "screen", "lines", "data", "records", "runbook", "notices", "subjects", "rows"
)
"""The formats of a report."""
BY_HAND = formats_of("by_hand")
"""Scripts that write a plan."""
METRICS = formats_of("metrics")
"""Formats that hold numbers for monitoring, and no report."""
