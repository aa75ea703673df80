"""Consent to a plan: one question at a terminal, else what `--yes` and `--accept` take."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from reshardctl.commands.fix_request import Asked
from reshardctl.console.progress import clear
from reshardctl.errors import NotConfirmed
from reshardctl.planning.consent import exceeding, flag
from reshardctl.planning.decision import Plan
from reshardctl.planning.policy import Accept
from reshardctl.render.price import price_words
from reshardctl.render.words import command

QUESTION = "Write this? Only 'yes' is taken for a yes: "


@dataclass(frozen=True, slots=True)
class Again:
    """A command of ours, to be given again with consent. words: what it works on."""

    asked: Asked
    verb: str
    words: tuple[str, ...]

    def command(self, accepted: str, *more: str) -> str:
        """The complete command, on one line. accepted: the value of `--accept`, if it needs
        one."""
        words = list(self.words)
        if accepted and "--accept" in words[:-1]:
            place = words.index("--accept")
            del words[place : place + 2]
        accept = ["--accept", accepted] if accepted else []
        return " ".join(command(self.verb, *words, *more, *self.asked.how, "--yes", *accept))


def consent(again: Again, plan: Plan, limit: Accept | None) -> None:
    """Raises NotConfirmed unless the plan may be written. limit: what `--accept` names."""
    accepted = flag(plan, limit)
    if again.asked.yes:
        if exceeding(plan, limit):
            raise NotConfirmed(
                f"the plan costs more than {_taken(limit)} takes: {_price(plan)}. This accepts it:",
                again.command(accepted),
            )
        return
    confirm(
        shown=not again.asked.quiet, price=price_words(plan), way_out=again.command(accepted)
    )


def _taken(limit: Accept | None) -> str:
    if limit is None:
        return "--yes alone (an hour of re-reading a shard, no disorder)"
    return "--accept"


def _price(plan: Plan) -> str:
    words = price_words(plan).rstrip(".")
    return words[:1].lower() + words[1:]


def confirm(shown: bool = True, price: str = "", way_out: str = "") -> None:
    """Ask at the terminal. Raises NotConfirmed without one, or for any answer but yes.

    price: said before the question. way_out: the command that needs no answer.
    """
    said = f". {price} This accepts it:" if way_out else ""
    if not shown:
        raise NotConfirmed(
            f"this --format shows no plan that could be confirmed{said}", way_out or "add --yes"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NotConfirmed(f"there is no terminal to ask at{said}", way_out or "add --yes")
    try:
        clear()
        answer = input(f"{price} {QUESTION}".lstrip())
    except EOFError:
        answer = ""
    if answer.strip() != "yes":
        raise NotConfirmed("not confirmed; nothing was written")
