"""For GitHub Actions: workflow commands, which the runner turns into annotations.

`::error title=RSH203 child-not-started::…`, escaped as actions/toolkit does (packages/core,
command.ts). A table has no file and no line, and GitHub then shows the annotation on the run. Those
on one of several consumers are in the file and at the line that name it, where GitHub shows them in
the changed files of a pull request.
"""

from __future__ import annotations

from typing import Any

from reshardctl.render.document import Document, Notice
from reshardctl.render.escape import ascii_only, cut, escape

LONGEST = 4000
"""Characters of a message: the runner keeps 4096 (actions/runner, ExecutionContext)."""


def write(document: Document[Any]) -> str:
    """A command for each notice, on one line."""
    return "".join(_command(notice, document.context.ascii) for notice in document.notices())


def _command(notice: Notice, plain: bool) -> str:
    """Texts of a store are made harmless before ours are joined."""
    message = cut("\n".join(escape(line) for line in notice.lines), LONGEST)
    message = _data(ascii_only(message) if plain else message)
    where = name = ""
    if notice.origin is not None:
        where = f"file={_property(escape(notice.origin[0]))},line={notice.origin[1]},"
        name = f"{_data(escape(notice.name))}: "
    return f"::{notice.kind} {where}title={_property(notice.heading)}::{name}{message}\n"


def _data(text: str) -> str:
    """A text as a message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A text as a property's value."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
