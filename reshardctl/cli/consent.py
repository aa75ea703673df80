"""The one question at a terminal."""

from __future__ import annotations

import sys

from reshardctl.commands.planned import Planned
from reshardctl.console.progress import clear
from reshardctl.errors import NotConfirmed
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
