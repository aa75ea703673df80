"""The command that makes a stale plan again, with its consumer, for the errors that ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reshardctl.commands.account import Account
from reshardctl.commands.suggested_commands import suggested_command
from reshardctl.consumers.locator import parse
from reshardctl.errors import REPLAN, ReshardError
from reshardctl.execution.plan_file import SavedPlan
from reshardctl.model.times import instant
from reshardctl.planning.policy import LOSSLESS, POSITIONS
from reshardctl.render.words import command


@contextmanager
def naming_next_step(way_out: str) -> Iterator[None]:
    """Errors of the body that ask for a new plan end with `way_out`."""
    try:
        yield
    except ReshardError as error:
        if error.next == REPLAN:
            error.next = way_out
        raise


def new_plan(plan: SavedPlan, account: Account) -> str:
    """The command that makes the plan again on what is stored now."""
    options = plan.options
    policy = options.policy.text
    words = suggested_command(
        parse(plan.locator), plan.stream, account,
        None if policy in (LOSSLESS.name, POSITIONS.name) else policy,
        repair_options=options, probe=plan.probe or None,
        created=None if options.created is None else instant(options.created),
    )
    scope = () if options.scope is None else options.scope.words
    verb, sink = ("fix", ()) if options.line is None else ("rebuild", ("--from", "SINK"))
    text = " ".join(command(verb, *words, *scope, *sink, "--dry-run"))
    given = options.policy.name == POSITIONS.name
    more = "   # with the same --positions, --set or --shift" if given else ""
    return f"make a new plan: {text}{more}"
