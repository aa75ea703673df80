"""One document, whatever the command: what every format's writer is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from reshardctl.render.content import Result, data_of
from reshardctl.render.content.report_json import Json
from reshardctl.render.context import Context


@dataclass(frozen=True, slots=True)
class Document:
    """A command's result, and how it is to be shown.

    Writers for programs read `data`; the others compose their own text from `result`. No writer
    reads what another one wrote.
    """

    result: Result
    context: Context

    @property
    def data(self) -> Json:
        """The values of its JSON document, made anew at each call."""
        return data_of(self.result, self.context.exit)


class Writer(Protocol):
    """One output format: a function of this shape in a module of the format's name."""

    def __call__(self, document: Document) -> str:
        """The document as whole lines, to be printed as they are."""
