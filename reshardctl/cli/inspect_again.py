"""`reshardctl inspect --every`: shows each round; the files stay as the last one made them."""

from __future__ import annotations

import sys
from dataclasses import replace

from reshardctl.cli.terminal import Terminal
from reshardctl.commands.inspect import Inspection, InspectRequest
from reshardctl.commands.inspect_again import Round, inspect_again
from reshardctl.console import output
from reshardctl.console.destinations import Destination
from reshardctl.console.failures import say
from reshardctl.console.output import Output, show
from reshardctl.errors import ReshardError
from reshardctl.model.times import instant
from reshardctl.render.content.report import tally
from reshardctl.render.content.roundup import total


def look_again(request: InspectRequest, every: str, out: Output, terminal: Terminal) -> None:
    """Inspects until Ctrl-C or SIGTERM, which ends it as it ends any command.

    Without a terminal, a format and a file, stdout gets one line a round.
    """
    logged = out.destinations[0] == Destination(None, None) and not sys.stdout.isatty()
    if logged:
        out = replace(out, destinations=out.destinations[1:])
    rounds = 0
    try:
        for turn in inspect_again(request, every, terminal):
            output.forget_shown()
            if logged:
                show([_line(turn)])
            _shown(turn.outcome, out, terminal)
            rounds += 1
    except KeyboardInterrupt:
        if rounds:
            output.await_failure(())  # the files are those of the last round
        raise


def _shown(outcome: Inspection | ReshardError, out: Output, terminal: Terminal) -> None:
    if isinstance(outcome, ReshardError):
        say(outcome)
        output.write_failure(outcome)
        return
    out = replace(out, suggested_command=outcome.words)
    out.write(outcome.report if outcome.alone else outcome.roundup, outcome.exit)
    if outcome.warning:
        terminal.note(outcome.warning)


def _line(turn: Round) -> str:
    """When, whom, and how many findings; or that it could not tell."""
    outcome = turn.outcome
    if isinstance(outcome, ReshardError):
        return f"{instant(turn.at)} could not tell: {outcome.what}"
    entries = outcome.roundup.entries
    if len(entries) > 1 or entries[0].report is None:
        paces = [f"{e.name}: {e.report.pace}" for e in entries if e.report and e.report.pace]
        return "; ".join([f"{instant(turn.at)} {total(outcome.roundup)}", *paces])
    report = entries[0].report
    parts = [f"{instant(turn.at)} {entries[0].name}: {tally(report)}", report.pace]
    return "  ".join(part for part in parts if part)
