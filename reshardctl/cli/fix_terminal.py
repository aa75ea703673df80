"""The terminal of a `fix` or a `rebuild`, of one consumer or several: plans, consent, outcomes.

Apart from `cli/fix.py`, which is loaded at every start: this needs all that a fix needs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from typing import TypeVar

from reshardctl.cli.terminal import (
    FIXED,
    QUESTION,
    Terminal,
    after_writing,
    ask,
    at_terminal,
    which,
)
from reshardctl.commands.consent import within_limit
from reshardctl.commands.observer import Observer
from reshardctl.commands.planned import Confirm, FixResult, Planned
from reshardctl.commands.write_requests import FixRequest
from reshardctl.console.destinations import Destination
from reshardctl.console.failures import say
from reshardctl.console.output import Output
from reshardctl.errors import Refused
from reshardctl.exit import Exit
from reshardctl.planning.plan import Ask
from reshardctl.render.content.plan import brief
from reshardctl.render.content.questions import CHOICES, choices
from reshardctl.render.costs import left_words, price_words
from reshardctl.report.report import told
from reshardctl.report.results import ConsumerFix, Fixed, Fixes
from reshardctl.report.results import Planned as PlanShown

Request = TypeVar("Request", bound=FixRequest)


class FixTerminal(Terminal):
    """A terminal that shows the plan, too, asks for consent to it, and shows what was written.

    quiet: whether the outcome is all that is shown. yes: whether nobody is asked.
    """

    def __init__(
        self, out: Output, *, dry_run: bool, quiet: bool, yes: bool
    ) -> None:
        super().__init__(yes=yes)
        self._out, self._dry_run, self._quiet = out, dry_run, quiet
        self._open: Planned | None = None

    def planned(self, planned: Planned) -> None:
        """Shows the plan; if only the outcome is wanted, why there is none for one alone."""
        none = planned.plan is None
        self._open = planned if isinstance(planned.report.decision, Ask) else None
        if (self._quiet and (planned.name or not none)) or self._known(planned):
            return
        out = replace(
            self._out, suggested_command=planned.words, sink=planned.sink_words,
            name=planned.name,
        )
        shown = PlanShown(
            planned.report, self._dry_run or none, planned.saved, planned.again.how
        )
        out.write(shown, planned.exit)

    def _known(self, planned: Planned) -> bool:
        """Whether the question alone is enough: who is asked has seen this very plan."""
        alone = self._out.destinations == (Destination(None, None),) and not self._out.verbose
        asked = at_terminal() and not self._yes and not self._dry_run
        return planned.as_saved and alone and asked and not planned.name

    def consents(self, planned: Planned) -> bool:
        """Takes what costs little if nobody is asked; else asks, with the plan's price."""
        if self._yes:
            return within_limit(planned)
        decided = planned.decision
        price, question = price_words(decided) + left_words(decided), QUESTION
        if self._known(planned):
            snapshot = planned.report.snapshot
            price = f"{brief(planned.report, planned.steps)}. {price}"
            question = (
                f"Write this to {snapshot.locator.text}, stream {snapshot.lineage.stream.name}?"
            )
        elif planned.name:
            question = f"Write this to {planned.name}?"
        shown = not self._quiet and self._out.destinations[0].file is None
        return ask(planned.accepting, shown=shown, price=price, question=question)

    def fix(
        self, request: Request, plan: Callable[[Request, Observer], Planned],
        write: Callable[[Request, Confirm, Observer], FixResult],
    ) -> Exit:
        """Plans or fixes one consumer, and again with what is chosen where its plan asks.

        plan, write: those of `fix`, or of `rebuild`, which reads the sink once more then.
        """
        while True:
            try:
                if self._dry_run:
                    return self._out.ends_with(plan(request, self).exit)
                return self.show(write(request, self.consents, self))
            except Refused:
                if (chosen := self._chosen()) is None:
                    raise
                request = dataclasses.replace(request, consumer=chosen)

    def _chosen(self) -> str | None:
        """The consumer with the answer that is chosen, by its number, to the question of its plan.

        None without a question, without a terminal, and where nothing is chosen.
        """
        planned, self._open = self._open, None
        if planned is None or planned.name or self._yes or self._quiet or not at_terminal():
            return None
        report, question = planned.report, planned.report.decision
        text = report.snapshot.locator.text
        if not isinstance(question, Ask) or planned.words[:1] != (text,):
            return None  # a name in reshardctl.toml, where the answer belongs
        if question.options == ("recreated",):
            return None  # the operator's word, which nobody has typed yet
        known = choices(report, question)
        number = which(len(known) if self._out.verbose else min(len(known), CHOICES))
        return None if number is None else told(text, known[number - 1].answer)

    def show(self, result: FixResult) -> Exit:
        """Shows what was written for one consumer, if anything was."""
        if result.fixed is not None:
            out = replace(self._out, suggested_command=result.words, sink=result.sink_words)
            with after_writing(FIXED, _journals([result.fixed])):
                out.write(result.fixed, result.exit)
        return result.exit

    def show_all(self, fixes: Fixes) -> Exit:
        """Shows what came of several consumers, and why some failed."""
        written = _journals(each.fixed for each in fixes.consumers if each.fixed is not None)
        try:
            with after_writing(FIXED, written):
                self._out.write(fixes, fixes.exit)
        finally:
            for each in fixes.consumers:
                _say(each)
        return self._out.ends_with(fixes.exit)


def _journals(written: Iterable[Fixed]) -> dict[str, tuple[str, ...]]:
    """The journal of each fix, with the options that its undo needs."""
    return {each.journal: each.before.snapshot.locator.stop_words for each in written}


def _say(each: ConsumerFix) -> None:
    """Prints why a consumer failed, under its name."""
    if each.failure is not None:
        failure = copy(each.failure)
        failure.what = f"{each.name}: {failure.what}"
        say(failure)
