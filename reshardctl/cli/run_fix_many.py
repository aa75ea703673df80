"""Runs a fix of several consumers at the terminal: their plans, the questions, the outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from reshardctl.cli.after_writing import FIXED, after_writing
from reshardctl.cli.consent import ask_for_plan
from reshardctl.cli.run_fix import FixTerminal
from reshardctl.commands.consent import within_limit
from reshardctl.commands.fix_many import fix_many, plan_many
from reshardctl.commands.fix_request import FixRequest
from reshardctl.commands.planned import Planned
from reshardctl.console.failures import say
from reshardctl.console.output import Output
from reshardctl.exit import Exit
from reshardctl.render.fixes import FORMATS, ConsumerFix


def run_fix_many(
    request: FixRequest, consumers: Sequence[str], out: Output, *, dry_run: bool, quiet: bool,
    yes: bool,
) -> Exit:
    """Shows all plans, asks for each unless `yes`, writes them and shows what was written.

    quiet: whether the outcome is all that is shown.
    """
    out.check_formats(FORMATS, "shows one consumer")

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
                out.write_fixes(fixes)
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
