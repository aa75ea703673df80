"""Applies a saved plan, and finishes an interrupted fix."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from reshardctl.commands.consent import require_consent
from reshardctl.commands.fix_consumer import write
from reshardctl.commands.fix_request import FixRequest
from reshardctl.commands.journals import Journals
from reshardctl.commands.observer import Observer
from reshardctl.commands.planned import Again, Confirm, FixResult, Planned
from reshardctl.commands.replanning import naming_next_step, new_plan
from reshardctl.commands.request import accept_of
from reshardctl.commands.stopped import allowed
from reshardctl.commands.suggested_commands import suggested_command
from reshardctl.commands.survey import survey
from reshardctl.commands.targets.configured import of_saved
from reshardctl.commands.whose_rows import (
    require_verified,
    right_incarnation,
    unambiguous,
    verified_report,
)
from reshardctl.commands.write_plan import go_on, left_over, verify
from reshardctl.consumers import locator as locators
from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.report import Report
from reshardctl.errors import EmptyCheckpoint, StalePlan, UsageError
from reshardctl.execution import plan_file as savedplan
from reshardctl.execution.plan_file import SavedPlan
from reshardctl.execution.ports import Ports
from reshardctl.execution.repair import plan_of
from reshardctl.journal import Journal
from reshardctl.model.times import instant
from reshardctl.planning.consent import unasked
from reshardctl.planning.plan import Plan
from reshardctl.render.outcomes import Fixed
from reshardctl.render.words import command


@dataclass(frozen=True, slots=True)
class Prepared:
    """A saved plan that was made again on what is stored now.

    planned: `None` if it cannot be made again; then it is refused as stale before the first write.
    """

    request: FixRequest
    ports: Ports
    locator: Locator
    plan: SavedPlan
    report: Report
    planned: Planned | None
    words: tuple[str, ...]


def fix_from_plan(
    request: FixRequest, path: Path, confirm: Confirm, observer: Observer
) -> FixResult:
    """Applies a saved plan exactly, or refuses."""
    ready = prepared(request, savedplan.load(path), path, observer)
    if ready.planned is not None:
        require_consent(ready.planned, confirm)
    fixed = write(ready.request, ready.ports, ready.plan, ready.locator, ready.report, observer)
    return FixResult(ready.planned, fixed, ready.words)


def prepared(
    request: FixRequest, plan: SavedPlan, path: Path, observer: Observer
) -> Prepared:
    """Reads and judges again, and tells the observer of the plan. path: the plan's file.

    Raises Refused for a plan of another stream, StalePlan for a checkpoint that is empty now.
    """
    locator = locators.parse(plan.locator)
    observer.phase(f"{path} names {plan.locator} on stream {plan.stream}")
    argv = tuple(suggested_command(locator, plan.stream, request.account))
    saved = of_saved(request.account, request.config, locator, plan.stream, observer)
    Journals(saved.account).check_before_write(request.journal or saved.journal)
    try:
        report = survey(saved.ports, plan.stream, locator, plan.options, plan.probe)
    except EmptyCheckpoint as error:
        way = " ".join(command("inspect", *argv))
        raise StalePlan(f"the plan is stale: {error.what}", way) from None
    created = plan.options.created if request.created_at is None else request.created_at
    right_incarnation(report, created)
    plan = replace(plan, options=replace(plan.options, created=created))
    report = verified_report(report, saved.ports.kinesis)
    planned = None
    if isinstance(report.decision, Plan):
        stamp = () if request.created_at is None else ("--created", instant(request.created_at))
        source = ("--plan", str(path), *stamp)
        planned = _made_before(request, report, report.decision, plan, source, argv)
        unambiguous(report, created)
        require_verified(report, created)
        observer.planned(planned)
    reached = replace(
        request, account=saved.account, journal=request.journal or saved.journal,
        watch=request.watch or saved.watch,
    )
    return Prepared(reached, saved.ports, locator, plan, report, planned, argv)


def _made_before(
    request: FixRequest, report: Report, decision: Plan, plan: SavedPlan, source: tuple[str, ...],
    argv: tuple[str, ...],
) -> Planned:
    """What an earlier command planned, to be consented to by this one, whatever that one accepted.

    source: the option and the file that name it. argv: the words that name its consumer.
    """
    verb = "fix" if plan.options.line is None else "rebuild"
    again = Again(verb, (*source, *request.account.argv()), request.how)
    shown = replace(report, decision=unasked(decision))
    return Planned(shown, plan, accept_of(request.accept), argv, (), again)


def resume(
    request: FixRequest, name: str, confirm: Confirm, observer: Observer
) -> FixResult:
    """Finishes an interrupted fix, with consent. name: its journal's name, path or place on S3."""
    journal, records = Journal.open(Journals(request.account).named(name))
    path = journal.path
    back = f"reshardctl undo {shlex.quote(str(path))}"
    with journal:
        plan = plan_of(records)
        locator = locators.parse(plan.locator)
        observer.phase(f"{path} names {plan.locator} on stream {plan.stream}")
        argv = tuple(suggested_command(locator, plan.stream, request.account))
        again = new_plan(plan, request.account)
        if records.undo is not None:
            if records.undo.outcome == "undone":
                raise UsageError(f"{path}: this fix is undone already", again)
            raise UsageError(f"{path}: its undo was begun", back)
        if records.fix.outcome == "verified":
            raise UsageError(
                f"{path}: this fix was finished and verified, there is nothing to go on with",
                f"{' '.join(command('inspect', *argv))}, or take it back: {back}",
            )
        saved = of_saved(request.account, request.config, locator, plan.stream, observer)
        ports, request = saved.ports, replace(request, watch=request.watch or saved.watch)
        with naming_next_step(again):
            rest, decision = left_over(ports, plan, locator, journal, records, request.live)
            before = survey(ports, plan.stream, locator, plan.options, plan.probe)
            planned = _made_before(
                request, before, decision, replace(plan, steps=tuple(rest.steps)),
                ("--resume", name), argv,
            )
            if rest.steps:
                observer.planned(planned)
                require_consent(planned, confirm)
            allowed(request, ports, locator, plan.steps, observer)
            observer.writing()
            applied = go_on(ports, plan, locator, journal, records, request.live)
        after = verify(ports, plan, locator, journal)
        fixed = Fixed(
            before, after, applied.steps, str(path), applied.written, applied.recognised
        )
        return FixResult(planned if rest.steps else None, fixed, argv)
