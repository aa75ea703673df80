"""Consent to a plan: what the request accepts, or what a caller's `confirm` answers."""

from __future__ import annotations

from reshardctl.commands.planned import Confirm, Planned
from reshardctl.errors import NotConfirmed
from reshardctl.planning.consent import exceeding
from reshardctl.planning.policy import Accept
from reshardctl.render.price import price_words


def require_consent(planned: Planned, confirm: Confirm) -> None:
    """Raises NotConfirmed unless the plan may be written."""
    if not confirm(planned):
        raise NotConfirmed("not confirmed; nothing was written")


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
