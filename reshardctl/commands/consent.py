"""Consent to a plan: what the request accepts, or what a caller's `confirm` answers.

And to a file from elsewhere: whoever makes one chooses what is written, and the host that passwords
and signed calls go to.
"""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.commands.observer import Observer
from reshardctl.commands.planned import Confirm, Planned
from reshardctl.consumers.locator import SCHEMES, parse
from reshardctl.errors import NotConfirmed
from reshardctl.execution.plan_file import SavedPlan
from reshardctl.model import Step
from reshardctl.planning.policy import Accept
from reshardctl.planning.prices import exceeding
from reshardctl.render.words import price_words
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
        return "--yes alone (an hour of re-reading a shard, no disorder)"
    return "--accept"


def _price(planned: Planned) -> str:
    words = price_words(planned.decision).rstrip(".")
    return words[:1].lower() + words[1:]
