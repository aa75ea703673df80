"""One document, whatever the command: a result, and the views that formats write.

Each kind of result has a class of its own in `content.documents`. A view is made when a format asks
for it; a class has only those that make sense of its result. No writer asks what the result was,
and none reads what another one wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from msgspec import Struct

from reshardctl.diagnosis.rules import Finding
from reshardctl.errors import ReshardError
from reshardctl.exit import Exit
from reshardctl.model import Step, Stream
from reshardctl.render.context import Context
from reshardctl.report.changes import Changed
from reshardctl.report.report import Report

if TYPE_CHECKING:
    from reshardctl.render.markdown_words import Page
    from reshardctl.render.sheet import Sheet

Json = dict[str, Any]
Result = TypeVar("Result")


class Check(Struct, frozen=True):
    """A rule. skipped: why it was not judged, a sentence each; none where it was."""

    code: str
    name: str
    skipped: tuple[str, ...] = ()


class Subject(Struct, frozen=True):
    """A consumer or a sink with its findings, or why it could not be judged.

    kind: `consumer` or `sink`. name: the consumer's locator, or the sink's own name. called: its
    name among several, "" alone. origin: file and line that name it. place: the stream of one that
    failed, "" where none is known. identity: what stays the same between two looks at it, whatever
    its options. taken: Unix seconds at which it was read. group: what it is, and where. sentences:
    what a finding is, what it costs, by when, and what helps; the second argument asks for whole
    ids and numbers. remarks: what has to be said besides. told: the same below the sums.
    suppressed: findings that are hidden, each with the reason. exit: where it is its own.
    """

    kind: str
    name: str
    called: str = ""
    origin: tuple[str, int] | None = None
    place: str = ""
    identity: tuple[str, str] = ("", "")
    stream: Stream | None = None
    taken: float | None = None
    group: tuple[str, str] = ("", "")
    findings: tuple[Finding, ...] = ()
    sentences: Callable[[Finding, bool], list[str]] = lambda _finding, _verbose: []
    remarks: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    suppressed: tuple[tuple[Finding, str], ...] = ()
    failure: ReshardError | None = None
    exit: Exit | None = None


class Rows(Struct, frozen=True):
    """Rows that a command writes. done: as opposed to planned. facts: by their names."""

    verb: str
    name: str
    group: tuple[str, str]
    taken: float
    changed: tuple[Changed, ...]
    done: bool
    facts: Mapping[str, str]


class Notice(Struct, frozen=True):
    """One message to a run of CI. kind: error, warning or notice. origin: a file and its line."""

    kind: str
    heading: str
    lines: Sequence[str]
    origin: tuple[str, int] | None = None
    name: str = ""


class Measured(Struct, frozen=True):
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
        return getattr(cls, view) is not getattr(Document, view)

    def data(self) -> Json:
        """All that is known, as the values of a JSON document."""
        self._lacks("data")

    def records(self) -> Iterable[Json]:
        """The same as lines of JSON, each complete in itself."""
        self._lacks("records")

    def lines(self) -> Sequence[str]:
        """A line for each thing to be said, for `concise`. Not escaped yet."""
        self._lacks("lines")

    def rows(self) -> Iterable[Step]:
        """The steps with the rows that are written; none where only lines are shown."""
        self._lacks("rows")

    def by_hand(self) -> Report | None:
        """The report whose plan somebody writes by hand; `None` where there is only an error."""
        self._lacks("by_hand")

    def screen(self, sheet: Sheet) -> None:  # noqa: ARG002
        """Puts all that a person at a terminal needs on a sheet."""
        self._lacks("screen")

    def runbook(self, page: Page) -> None:  # noqa: ARG002
        """Puts findings, steps and the way back on a page."""
        self._lacks("runbook")

    def subjects(self) -> Sequence[Subject]:
        """Consumers and sinks as they are once the command ended; none where no row is left."""
        self._lacks("subjects")

    def suites(self) -> Sequence[Subject | Rows]:
        """The same, and the rows that were written or would be."""
        return self.subjects()

    def notices(self) -> Sequence[Notice]:
        """The findings, the worst first, and what there is in all."""
        self._lacks("notices")

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
