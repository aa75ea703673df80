"""Why rows may be written: the consumer is stopped, or every write is safe while it runs."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from reshardctl.commands.fix_request import USUAL_WATCH, FixRequest
from reshardctl.commands.observer import Observer
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.errors import ConsumerRunning
from reshardctl.execution.plan_file import SavedPlan, text
from reshardctl.execution.ports import Ports
from reshardctl.execution.watch import watch
from reshardctl.journal import Header
from reshardctl.model import Step
from reshardctl.model.times import duration, instant, parse_seconds
from reshardctl.planning.writes import counted_writes, require_live, suggesting


def allowed(
    request: FixRequest, ports: Ports, locator: Locator, steps: Sequence[Step], observer: Observer
) -> str:
    """Words for the journal on why these steps may be written.

    Raises ConsumerRunning and Refused if they may not.
    """
    if request.live:
        require_live(steps)
        return f"--live: {counted_writes(steps)}"
    try:
        return stopped(request.patience, ports, locator, observer, assumed=request.assume_stopped)
    except ConsumerRunning as refusal:
        raise suggesting(refusal, steps) from None


def stopped(
    watched: str, ports: Ports, locator: Locator, observer: Observer, *, assumed: bool
) -> str:
    """Words for the journal on why the consumer is taken to be stopped.

    watched: how long to watch, as in `1m`; the usual watch is as long as this consumer needs.
    assumed: whether the operator says that it is stopped.
    """
    if assumed:
        return "the operator says that it is stopped"
    seconds = parse_seconds(watched)
    if watched == USUAL_WATCH:
        seconds = max(seconds, consumer_of(locator).watch_needed(locator.options))
    observer.phase(f"looking for signs of life for {duration(seconds)}")

    def tell(left: float, so_far: str) -> None:
        more = f"; so far {so_far}" if so_far else ""
        observer.phase(f"looking for signs of life, {duration(math.ceil(left))} left{more}")

    excluded = watch(ports, locator, seconds, tell)
    observer.note(f"not running: {excluded}")
    return excluded


def header_of(plan: SavedPlan, ports: Ports, why: str) -> Header:
    """The header of this plan's journal. why: what `allowed` returned."""
    stream = {"arn": plan.stream, "created": instant(plan.created)}
    return Header(
        plan.digest, plan.locator, dict(plan.store), stream, plan.options.policy.name,
        os.environ.get("USER", ""), instant(ports.clock()), plan.steps,
        {"stopped": why, "saved": text(plan)},
    )
