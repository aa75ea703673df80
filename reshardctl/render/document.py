"""One document, whatever the command: a result, and the views that formats write.

Each kind of result has a class of its own in `content.documents`. A view is made when a format asks
for it; a class has only those that make sense of its result. No writer asks what the result was,
and none reads what another one wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from reshardctl.model import Step
from reshardctl.render.context import Context
from reshardctl.report.report import Report

if TYPE_CHECKING:
    from reshardctl.render.markdown_words import Page
    from reshardctl.render.sheet import Sheet

Json = dict[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Measured:
    """One consumer of one stream. report: `None` if it could not be judged."""

    stream: str
    consumer: str
    report: Report | None


class Document(Generic[Result]):
    """A command's result, and how it is to be shown."""

    def __init__(self, result: Result, context: Context) -> None:
        self.result, self.context = result, context

    @classmethod
    def has(cls, view: str) -> bool:
        """Whether documents of this kind have the view."""
        return getattr(cls, view, None) is not getattr(Document, view, None)

    def data(self) -> Json:
        """All that is known, as the values of a JSON document."""
        self._lacks("data")

    def records(self) -> Iterable[Json]:
        """The same as lines of JSON, each complete in itself."""
        self._lacks("records")

    def lines(self) -> Sequence[str]:
        """A line for each thing to be said, for pipes. Not escaped yet."""
        self._lacks("lines")

    def rows(self) -> Iterable[Step]:
        """The steps with the rows that are written; none where only lines are shown."""
        self._lacks("rows")

    def screen(self, sheet: Sheet) -> None:  # noqa: ARG002
        """Puts all that a person at a terminal needs on a sheet."""
        self._lacks("screen")

    def runbook(self, page: Page) -> None:  # noqa: ARG002
        """Puts findings, steps and the way back on a page."""
        self._lacks("runbook")

    def metrics(self) -> Sequence[Measured] | None:
        """The consumers whose numbers are wanted; `None` where none was reached."""
        self._lacks("metrics")

    def table(self) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
        """Heads, and a row of values for each shard."""
        self._lacks("table")

    def chart(self) -> Any:
        """A `graph.chart.Chart`: the shards with one consumer's positions at most."""
        self._lacks("chart")

    def picture(self) -> str:
        """An SVG picture."""
        self._lacks("picture")

    def page(self) -> str:
        """An HTML page."""
        self._lacks("page")

    def _lacks(self, view: str) -> NoReturn:
        raise TypeError(f"{type(self).__name__} has no {view}")
