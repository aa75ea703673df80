"""How a command may end, whatever it was given."""

from __future__ import annotations

from collections.abc import Iterable

from tests.cli.lab import Result

DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 130}
ACCIDENTS = ("Traceback", "defect of reshardctl", "error: unexpected ")
BEGINNINGS = ("error: ", "refused: ", "empty: ", "half done: ")
NOTES = ("note: ", "warning: ")
MOST_CHARACTERS = 4000
"""Of a message: no whole file is shown in it."""


def ended_badly(result: Result, named: Iterable[str] = ()) -> str:
    """What is wrong with an ending; "" for nothing.

    named: texts of which a failure's message has at least one: the file, the row or the flag.
    """
    if result.code not in DOCUMENTED:
        return f"exit code {result.code}"
    for word in ACCIDENTS:
        if word in result.err:
            return f"says {word!r}"
    if result.code in (0, 1):
        return ""
    lines = [
        line for line in result.err.splitlines() if line and not line.startswith(NOTES)
    ]
    if not any(line.startswith(BEGINNINGS) for line in lines):
        return "no error line"
    if len(lines) > 3 * sum(line.startswith(BEGINNINGS) for line in lines):
        return f"{len(lines)} lines"
    if len(result.err) > MOST_CHARACTERS:
        return f"{len(result.err)} characters"
    if any(not (c.isprintable() or c == "\n") for c in result.err):
        return "control characters"
    wanted = list(named)
    if wanted and not any(word in result.err for word in wanted):
        return f"names none of {wanted}"
    return ""
