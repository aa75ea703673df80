"""What each answer to a question changes, and the command that gives it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.model import writes_of
from reshardctl.planning.decision import Answer
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Ask, Decision, NoSafePlan, Nothing, Plan
from reshardctl.render.content.findings import located, phrases
from reshardctl.render.costs import PRICED, broadest, cost, disorders
from reshardctl.render.escape import cut
from reshardctl.render.words import shards, shortened
from reshardctl.report.changes import changes
from reshardctl.report.report import Report, question

LONGEST = 200
"""Characters of the reason why an answer leads to no plan."""
CHOICES = 3
"""Choices that are shown; `-v` shows all."""
_UNRELEASED = re.compile(r"(^|-)(master|head|main)\b")
"""A build that nobody released: only who runs it chooses it."""


class Choice(Struct, frozen=True):
    """Answers that all lead to the same.

    text: their options and values. outcome: what comes of each, "" where that is not known. answer:
    the likeliest of them.
    """

    text: str
    outcome: str
    answer: Answer

    @property
    def line(self) -> str:
        """`release=2.7.2 or 3.5.1: start 2, 3 at TRIM_HORIZON`."""
        return f"{self.text}: {self.outcome}" if self.outcome else self.text


def outcomes(report: Report, ask: Ask) -> list[str]:
    """What is written with each of the answers, in their order; none where that is not known."""
    return [
        " or ".join(dict.fromkeys(_outcome(report, decision) for decision in decisions))
        for decisions in ask.decisions
    ]


def choices(report: Report, ask: Ask) -> list[Choice]:
    """One for each outcome, the likeliest first: the library's default, then the newest release.

    A build that nobody released comes last.
    """
    told_of = outcomes(report, ask)
    known = [*told_of, *[""] * (len(ask.answers) - len(told_of))]
    groups: list[tuple[Any, list[Answer]]] = []
    for index, (answer, outcome) in enumerate(zip(ask.answers, known, strict=True)):
        done = [_writes(decisions) for decisions in ask.decisions[index : index + 1]]
        same = next((held for mark, held in groups if mark == (outcome, done)), None)
        if same is None:
            groups.append(((outcome, done), [answer]))
        else:
            same.append(answer)
    likely = sorted(ask.answers, key=lambda answer: _likely(ask, answer), reverse=True)
    found = [
        Choice(_together(ask, held), mark[0], max(held, key=lambda one: _likely(ask, one)))
        for mark, held in groups
    ]
    return sorted(found, key=lambda choice: likely.index(choice.answer))


def in_a_line(report: Report, ask: Ask) -> str:
    """The first of the choices, with the library's default, in a message without a list."""
    if ask.options == ("recreated",):
        return question(report, ask)
    found = choices(report, ask)
    first = tuple(choice.answer for choice in found[:CHOICES])
    more = f", or one of {len(found) - CHOICES} more: -v" if len(found) > CHOICES else ""
    return question(report, replace(ask, answers=first)) + more


def _writes(decisions: Iterable[Decision]) -> list[Any]:
    """What an answer's plans write; two plans with the same words can differ in it."""
    plans = [each.steps if isinstance(each, Plan) else () for each in decisions]
    return [[(w.key, w.change, w.guard) for w in writes_of(steps)] for steps in plans]


def _likely(ask: Ask, answer: Answer) -> tuple[Any, ...]:
    """Higher where likelier. Answers name the usual start first, and the newest release last.

    A release with a name (`telegraf-1.39`) is another program's that uses the library.
    """
    usual = sum(ask.defaults.get(name) == value for name, value in answer)
    released = not any(_UNRELEASED.search(value) for _, value in answer)
    pairs = list(dict.fromkeys(pair for one in ask.answers for pair in one))
    places = {name: pairs.index((name, value)) for name, value in answer}
    newest = places.pop("release", 0)
    own = dict(answer).get("release", "").replace(".", "").isdecimal()
    return released, usual, -sum(places.values()), own, newest


def _together(ask: Ask, held: Sequence[Answer]) -> str:
    """`release=2.7.2 or 3.5.1`; a value that the library takes if nothing is set is marked."""
    values: dict[str, dict[str, None]] = {}
    for answer in held:
        for name, value in answer:
            usual = " (the default)" if value == ask.defaults.get(name) else ""
            values.setdefault(name, {})[value + usual] = None
    alike = len({tuple(name for name, _ in answer) for answer in held}) == 1
    if not alike or prod(map(len, values.values())) != len(held):  # some of these lead elsewhere
        return "; or ".join(_together(ask, [answer]) for answer in held)
    return ", ".join(f"{name}={_either(list(some))}" for name, some in values.items())


def _either(values: Sequence[str]) -> str:
    *first, last = values
    return f"{', '.join(first)} or {last}" if first else last


def _outcome(report: Report, decision: Decision) -> str:
    match decision:
        case Plan(steps):
            done = "; ".join(phrases(changes(report, steps), verbose=False))
            return shortened(", ".join([done, *_costs(decision)]))
        case Nothing(residuals) if residuals:
            left = shards(dict.fromkeys(residual.shard for residual in residuals))
            why = residuals[0].why or f"the fix {cost(residuals[0].costs)}"
            return f"leaves {left} alone: {why}"
        case Nothing():
            return "nothing to write"
        case NoSafePlan(why):
            return f"no plan: {cut(shortened(why), LONGEST)}"
        case Ask() as ask:
            return f"asks for {ask.named}"


def _costs(decided: Plan) -> list[str]:
    left = [e for run in decided.after for e in run if not (e.gone or e.past)]
    costs = [
        f"{word} {broadest(of_kind)}" for word, harm in PRICED
        if (of_kind := _of(left, decided.costs, harm))
    ]
    return [*costs, "out of order"] if any(disorders(e) for e in left) else costs


def _of(left: Sequence[Effect], policy: Sequence[Effect], harm: Harm) -> list[Effect]:
    return [e for e in (*left, *policy) if e.harm is harm]


def answering(
    report: Report, ask: Ask, answer: Answer, suggested_command: Sequence[str]
) -> list[str]:
    """The arguments with an answer in them: in the locator, or as `--recreated TIME`."""
    if ask.options == ("recreated",):
        return [*suggested_command, "--recreated", answer[0][1]]
    return located(report, answer, suggested_command)
