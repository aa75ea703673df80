"""Runs a fix or a rebuild at the terminal, of one consumer or several: plans, questions, outcomes.

Apart from `cli/fix.py`, which is loaded at every start: this needs all that a fix needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import TypeVar

from reshardctl.cli.consent import FIXED, after_writing, ask_for_plan
from reshardctl.cli.terminal import Terminal
from reshardctl.commands.consent import within_limit
from reshardctl.commands.fix import fix_many, plan_many
from reshardctl.commands.observer import Observer
from reshardctl.commands.planned import Confirm, FixResult, Planned
from reshardctl.commands.write_requests import FixRequest
from reshardctl.console.failures import say
from reshardctl.console.output import Output
from reshardctl.exit import Exit
from reshardctl.render.content.documents import FixesDocument
from reshardctl.report.results import ConsumerFix
from reshardctl.report.results import Planned as PlanShown

Request = TypeVar("Request", bound=FixRequest)


class FixTerminal(Terminal):
    """A terminal that shows the plan too.

    quiet: whether to show only the outcome, except in a dry run. yes: whether nobody is asked.
    """

    def __init__(
        self, out: Output, *, dry_run: bool, quiet: bool, yes: bool = False
    ) -> None:
        super().__init__(yes=yes)
        self._out, self._dry_run, self._quiet = out, dry_run, quiet

    def planned(self, planned: Planned) -> None:
        """Shows the plan, unless only the outcome is wanted."""
        none = planned.plan is None
        if none or self._dry_run or not self._quiet:
            out = replace(
                self._out, suggested_command=planned.words, sink=planned.sink_words,
                name=planned.name,
            )
            shown = PlanShown(planned.report, self._dry_run or none, planned.saved)
            out.write(shown, planned.exit)


def show_plan(
    plan: Callable[[Request, Observer], Planned], request: Request, out: Output
) -> Exit:
    """Shows the plan of a dry run."""
    with FixTerminal(out, dry_run=True, quiet=False) as terminal:
        return plan(request, terminal).exit


def run_fix(
    fix: Callable[[Request, Confirm, Observer], FixResult], request: Request, out: Output, *,
    quiet: bool, yes: bool,
) -> Exit:
    """Shows the plan, asks unless `yes`, writes it and shows what was written."""
    def confirm(planned: Planned) -> bool:
        return within_limit(planned) if yes else ask_for_plan(planned, shown=not quiet)

    with FixTerminal(out, dry_run=False, quiet=quiet, yes=yes) as terminal:
        result = fix(request, confirm, terminal)
        if result.fixed is not None:
            out = replace(out, suggested_command=result.words, sink=result.sink_words)
            with after_writing(FIXED, [result.fixed.journal]):
                out.write(result.fixed, result.exit)
    return result.exit


def run_fix_many(
    request: FixRequest, consumers: Sequence[str], out: Output, *, dry_run: bool, quiet: bool,
    yes: bool,
) -> Exit:
    """Shows all plans, asks for each unless `yes`, writes them and shows what was written.

    quiet: whether the outcome is all that is shown.
    """
    out.check_formats(FixesDocument, "shows one consumer")

    def confirm(planned: Planned) -> bool:
        return within_limit(planned) if yes else ask_for_plan(planned, shown=not quiet)

    with _ManyTerminal(out, dry_run=dry_run, quiet=quiet, yes=yes) as terminal:
        if dry_run:
            fixes = plan_many(request, consumers, terminal)
        else:
            fixes = fix_many(request, consumers, confirm, terminal)
        try:
            written = [each.fixed.journal for each in fixes.consumers if each.fixed is not None]
            with after_writing(FIXED, written):
                out.write(fixes, fixes.exit)
        finally:
            for each in fixes.consumers:
                _say(each)
    return fixes.exit


class _ManyTerminal(FixTerminal):
    """Shows each plan, unless one document is wanted of all."""

    def planned(self, planned: Planned) -> None:
        """Shows the plan of one consumer."""
        if not self._quiet:
            super().planned(planned)


def _say(each: ConsumerFix) -> None:
    """Prints why a consumer failed, under its name."""
    if each.failure is not None:
        failure = copy(each.failure)
        failure.what = f"{each.name}: {failure.what}"
        say(failure)
