"""The one question at a terminal, and the report of the rows that are written after it.

If that report fails, what was written is said all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from reshardctl.commands.planned import Planned
from reshardctl.console.failures import PipeClosed, drop_stdout, stdout_failure
from reshardctl.console.progress import clear
from reshardctl.errors import HalfDone, NotConfirmed, ReshardError, command_line
from reshardctl.render.escape import escape
from reshardctl.render.words import price_words

YES = "Only 'yes' is taken for a yes: "
QUESTION = f"Write this? {YES}"
TRUST = f"Connect to this store and go on? {YES}"


def ask_for_plan(planned: Planned, *, shown: bool) -> bool:
    """Asks for consent to a plan, with its price. NotConfirmed without a terminal."""
    price, question = price_words(planned.decision), QUESTION
    if planned.name:
        question = f"Write this to {planned.name}? {YES}"
    return ask(planned.accepting, shown=shown, price=price, question=question)


def ask(accepting: str, *, shown: bool, price: str = "", question: str = QUESTION) -> bool:
    """Asks at the terminal. NotConfirmed without one, and if nothing was shown.

    accepting: the command that needs no answer. price: printed before the question.
    """
    costs = f". {price} This accepts it:" if price else ""
    if not shown:
        raise NotConfirmed(
            f"this --format shows no plan that could be confirmed{costs}", accepting
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NotConfirmed(f"there is no terminal to ask at{costs}", accepting)
    try:
        clear()
        answer = input(escape(f"{price} {question}".lstrip()))
    except EOFError:
        answer = ""
    return answer.strip() == "yes"


FIXED = "everything was written"
UNDONE = "everything was put back"


@contextmanager
def after_writing(done: str, journals: Sequence[str]) -> Iterator[None]:
    """A context that writes the report. HalfDone, naming the journals, if that fails.

    The code of the failure itself says that nothing was written. done: FIXED or UNDONE. journals:
    none if nothing was written.
    """
    try:
        yield
    except Exception as error:
        if not journals:
            raise
        raise HalfDone(
            f"{done}, but the report was not: {_why(error)}", _ways(done, journals), journals[0]
        ) from error


def _ways(done: str, journals: Sequence[str]) -> str:
    """What shows what was written, and what puts it back, one command for each journal."""
    show = "; ".join(command_line("reshardctl", "undo", "--show", name) for name in journals)
    back = "; ".join(command_line("reshardctl", "undo", name) for name in journals)
    return f"{show}   # or back: {back}" if done == FIXED else show


def _why(error: Exception) -> str:
    """What failed, after discarding what stdout does not take."""
    if isinstance(error, ReshardError):
        return error.what
    if isinstance(error, PipeClosed):
        drop_stdout()
        return "stdout: its reader has closed it"
    if why := stdout_failure(error):
        drop_stdout()
        return f"stdout: {why}"
    return f"unexpected {type(error).__name__}: {error}"
