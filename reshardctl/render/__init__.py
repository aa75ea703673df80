"""Results as text: pure functions from values to strings.

A result becomes a `document.Document`, whose class (`content.documents`) says which views it has.
A line of `formats.Format` says which view a format writes, and which function does it. `content`
has the words of each result, `graph` the pictures.

Other rooms import what this file names, and `content.documents`, `content.journals`,
`content.report`, `content.roundup`, `content.writes`, `context`, `document`, `escape`, `formats`,
`graph.chart`, `graph.drawings`, `html`, `markup`, `words`. Read `document` first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reshardctl.render.content.documents import Result
    from reshardctl.render.context import Context


def write(result: Result, form: str, context: Context) -> str:
    """A result in a format, as whole lines to be printed as they are."""
    from reshardctl.render.content.documents import document_of
    from reshardctl.render.formats import Format

    return Format(form).write(document_of(result, context))
