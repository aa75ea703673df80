"""Consent to a plan: what the request accepts, or what a caller's `confirm` answers.

A file from elsewhere needs consent of its own: whoever makes one chooses what is written, and the
host that passwords and signed calls go to. A stale plan is refused with the command that makes it
again, with its consumer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from reshardctl.codec.argv import words
from reshardctl.commands.observer import Observer
from reshardctl.commands.planned import Confirm, Planned
from reshardctl.commands.requests import Account
from reshardctl.commands.target import WANTED, Selection
from reshardctl.consumers.locator import SCHEMES, parse
from reshardctl.errors import INSPECT, REPLAN, NotConfirmed, ReshardError, command_line
from reshardctl.execution.plan_file import SavedPlan
from reshardctl.model import Step
from reshardctl.model.times import instant
from reshardctl.planning.policy import LOSSLESS, POSITIONS, Accept
from reshardctl.planning.prices import exceeding
from reshardctl.render.costs import price_words
from reshardctl.render.words import command
from reshardctl.report.results import Elsewhere


def require_consent(planned: Planned, confirm: Confirm) -> None:
    """Raises NotConfirmed unless the plan may be written."""
    if not confirm(planned):
        raise NotConfirmed("not confirmed; nothing was written")


def require_trust(
    name: str, plan: SavedPlan, steps: Sequence[Step], accepting: str, observer: Observer
) -> None:
    """NotConfirmed unless a file from elsewhere may be gone on with.

    name: of the file. steps: what it would write. accepting: as in `Elsewhere`.
    """
    locator = parse(plan.locator)
    known_as = SCHEMES[locator.text.partition(":")[0]]
    host = locator.target.rpartition("@")[2].partition("/")[0] if known_as.server else ""
    file = Elsewhere(name, locator.text, host, plan.stream, tuple(steps), accepting)
    if not observer.trusts(file):
        raise NotConfirmed("not confirmed; nothing was called, nothing was written")


def within_limit(planned: Planned) -> bool:
    """Consents to what the request accepts.

    Without `accept` that is an hour of re-reading per shard, and no disorder. Raises NotConfirmed
    for a plan that costs more.
    """
    plan = planned.decision
    if exceeding(plan, planned.limit):
        raise NotConfirmed(
            f"the plan costs more than {_taken(planned.limit)} takes: {_price(planned)}. "
            "This accepts it:", planned.accepting,
        )
    return True


def _taken(limit: Accept | None) -> str:
    if limit is None:
        return (
            "--yes alone (an hour of re-reading a shard, no disorder, skips only by this command's "
            "own --policy)"
        )
    return "--accept"


def _price(planned: Planned) -> str:
    words = price_words(planned.decision).rstrip(".")
    return words[:1].lower() + words[1:]


@contextmanager
def naming_next_step(way_out: str, words: Sequence[str] = ()) -> Iterator[None]:
    """Errors of the body that ask for a new plan end with `way_out`.

    words: the arguments that name the consumer, for those that ask for a look at the rows.
    """
    try:
        yield
    except ReshardError as error:
        error.next = error.next.replace(REPLAN, way_out)
        if words:
            inspect = command_line("reshardctl", "inspect", *words)
            error.next = error.next.replace(INSPECT, f"see the rows as they are: {inspect}")
        raise


def new_plan(plan: SavedPlan, account: Account) -> str:
    """The command that makes the plan again on what is stored now."""
    options = plan.options
    policy = options.policy.text
    created, recreated = (
        None if time is None else instant(time) for time in (options.created, options.recreated)
    )
    asked = Selection(
        stream=plan.stream, account=account,
        policy=None if policy in (LOSSLESS.name, POSITIONS.name) else policy,
        created=created, recreated=recreated, bootstrap=options.bootstrap,
        probe=plan.probe or None,
    )
    named = (parse(plan.locator).text, *words(asked, ("--stream", *WANTED)))
    scope = () if options.scope is None else words(options.scope)
    verb, sink = ("fix", ()) if options.line is None else ("rebuild", ("--from", "SINK"))
    text = " ".join(command(verb, *named, *scope, *sink, "--dry-run"))
    given = options.policy.name == POSITIONS.name
    more = "   # with the same --positions, --set or --shift" if given else ""
    return f"make a new plan: {text}{more}"
