"""What a write needs before it and after it: leave, a proof on fresh state, and a second look.

Rows may be written because the consumer is stopped, or because every write is safe while it runs.
`execution/apply.py` does the writing.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from msgspec.structs import replace

from reshardctl.commands.observer import Observer
from reshardctl.commands.survey import judged, survey, with_last_numbers
from reshardctl.commands.whose_rows import require_proven, verified_report, verified_steps
from reshardctl.commands.write_requests import USUAL_WATCH, FixRequest
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import INSPECT, ConsumerRunning, HalfDone, ReshardError
from reshardctl.execution.apply import Rest, fresh_rows, half_done, rest_of
from reshardctl.execution.plan_file import SavedPlan, text
from reshardctl.execution.proof import (
    renewing,
    require_promises,
    require_same,
    still_proven,
    unplanned,
)
from reshardctl.execution.watch import watch
from reshardctl.journal import Header, Journal, Records
from reshardctl.model import Step
from reshardctl.model.times import duration, instant, parse_seconds
from reshardctl.planning.decision import Plan
from reshardctl.planning.writes import counted_writes, require_live, suggesting
from reshardctl.report.report import Report
from reshardctl.snapshot import Ports, verified_by_sample


def proven(ports: Ports, plan: SavedPlan, locator: Locator, live: bool = False) -> list[Step]:
    """The plan's steps over the rows as they are now, proven on the present state.

    live: the consumer may be running, so rows may be renewed and read on meanwhile. Raises
    StalePlan if the proof fails.
    """
    images = tuple(fresh_rows(ports.store))
    lineage = ports.kinesis.lineage(plan.stream)
    require_same(plan, lineage, ports.store.identity())
    now = Snapshot(locator, lineage, images, plan.store, ports.clock())
    now = verified_by_sample(now, ports.kinesis)
    report = judged(ports.kinesis, now, replace(plan.options, count=False), plan.probe)
    report = verified_report(report, ports.kinesis)
    steps = still_proven(plan, report, live)
    require_proven(report.snapshot, steps, plan.options.created)
    return steps


def left_over(
    ports: Ports, plan: SavedPlan, locator: Locator, journal: Journal, records: Records,
    live: bool = False,
) -> tuple[Rest, Plan | None]:
    """What a journal began and has not finished, and the same as a plan with its price.

    A start on the mixed state and the rest of the steps is simulated. Where every step is in place
    there is no plan: nothing is written any more. Raises what `proven` raises, and HalfDone for
    rows that another process wrote.
    """
    renewed = renewing(locator, live)
    spec = locator.spec
    rest = rest_of(
        records,
        ports.store,
        volatile_attributes=spec.volatile_attributes,
        renewing=renewed,
        identity_rows=spec.identity_rows,
    )
    lineage = ports.kinesis.lineage(plan.stream)
    require_same(plan, lineage, plan.store)
    if not rest.steps:
        return rest, None
    now = Snapshot(locator, lineage, rest.rows, plan.store, ports.clock())
    now = verified_steps(verified_by_sample(now, ports.kinesis), ports.kinesis, rest.steps)
    if plan.probe:  # read again what the plan rests on
        now = judged(ports.kinesis, now, replace(plan.options, count=False), True).snapshot
    back = records.header.undoing(journal.path)
    options = with_last_numbers(ports.kinesis, now, plan.options, plan.probe)
    decision = require_promises(replace(plan, options=options), now, rest.steps, back)
    require_proven(now, rest.steps, plan.options.created)
    if live:
        require_live(rest.steps)
    return rest, decision


def verify(ports: Ports, plan: SavedPlan, locator: Locator, journal: Journal) -> Report:
    """Reads and judges again: the next plan must not write what this one wrote.

    HalfDone if it would, or if reading fails: what was written stays written.
    """
    try:
        return _verified(ports, plan, locator, journal)
    except HalfDone:
        raise
    except ReshardError as error:
        raise half_done(
            journal, f"the rows are written, but not verified: {error.what}"
        ) from error


def _verified(ports: Ports, plan: SavedPlan, locator: Locator, journal: Journal) -> Report:
    repair_options = plan.options
    if repair_options.recreated is None:
        repair_options = replace(repair_options, bootstrap=False)
    report = survey(ports, plan.stream, locator, repair_options, plan.probe)
    if titles := unplanned(plan, report):
        journal.failed(f"the next plan is not empty: {titles}")
        raise HalfDone(
            f"the rows are written, but there is more to do now: {titles}",
            f"{INSPECT}; then fix again, or take this back: "
            f"{journal.header.undoing(journal.path)}",
            str(journal.path),
        )
    journal.verified()
    return report


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
        what = so_far or "looking for signs of life"
        observer.phase(f"{duration(math.ceil(left))} left; {what}")

    excluded = watch(ports, locator, seconds, tell)
    observer.note(f"not running: {excluded}")
    return excluded


def header_of(plan: SavedPlan, ports: Ports, why: str) -> Header:
    """The header of this plan's journal. why: what `allowed` returned."""
    stream = {"arn": plan.stream, "created": instant(plan.created)}
    notes = {"stopped": why, "saved": text(plan)}
    if plan.options.bootstrap:
        notes["bootstrap"] = "yes"
    return Header(
        plan.digest, plan.locator, dict(plan.store), stream, plan.options.policy.name,
        os.environ.get("USER", ""), instant(ports.clock()), plan.steps,
        notes,
    )
