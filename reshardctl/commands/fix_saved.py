"""Applies a saved plan, and finishes an interrupted fix."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from reshardctl.commands.configured import of_saved
from reshardctl.commands.consent import naming_next_step, new_plan, require_consent, require_trust
from reshardctl.commands.fix_consumer import write
from reshardctl.commands.journals import Journals
from reshardctl.commands.observer import Observer
from reshardctl.commands.planned import Again, Confirm, FixResult, Planned, made_here
from reshardctl.commands.requests import suggested_command
from reshardctl.commands.survey import survey
from reshardctl.commands.target import accept_of
from reshardctl.commands.whose_rows import (
    asking_for,
    require_verified,
    right_incarnation,
    right_times,
    unambiguous,
    verified_report,
)
from reshardctl.commands.write import allowed, go_on, left_over, verify
from reshardctl.commands.write_requests import FixRequest
from reshardctl.consumers.locator import Locator, parse
from reshardctl.errors import EmptyCheckpoint, NotConfirmed, StalePlan, UsageError
from reshardctl.execution.plan_file import SavedPlan, load
from reshardctl.execution.proof import plan_of
from reshardctl.journal import Journal
from reshardctl.model.times import instant
from reshardctl.planning.plan import CREATION_TIME, Plan
from reshardctl.planning.prices import unasked
from reshardctl.render.words import command
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed
from reshardctl.snapshot import Ports


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
    plan = load(path)
    in_own_words(request, plan, "--plan", str(path))
    require_known(request, plan, path, observer)
    ready = prepared(request, plan, path, observer)
    if ready.planned is not None:
        require_consent(ready.planned, confirm)
    fixed = write(ready.request, ready.ports, ready.plan, ready.locator, ready.report, observer)
    return FixResult(ready.planned, fixed, ready.words)


def require_known(
    request: FixRequest, plan: SavedPlan, path: Path, observer: Observer
) -> None:
    """NotConfirmed unless the plan was made here, or somebody agrees to it. Calls nothing."""
    if not made_here(plan.digest):
        accepting = _again(request, plan, "--plan", str(path)).command(request.accept or "")
        require_trust(str(path), plan, plan.steps, accepting, observer)


def prepared(
    request: FixRequest, plan: SavedPlan, path: Path, observer: Observer
) -> Prepared:
    """Reads and judges again, and tells the observer of the plan. path: the plan's file.

    Raises Refused for a plan of another stream, StalePlan for a checkpoint that is empty now, and
    what `in_own_words` raises, before any call.
    """
    plan = in_own_words(request, plan, "--plan", str(path))
    locator = parse(plan.locator)
    observer.phase(f"{path} names {plan.locator} on stream {plan.stream}")
    argv = tuple(suggested_command(locator, plan.stream, request.account))
    saved = of_saved(request.account, request.config, locator, plan.stream, observer)
    Journals(saved.account).check_before_write(request.journal or saved.journal)
    try:
        report = survey(saved.ports, plan.stream, locator, plan.options, plan.probe)
    except EmptyCheckpoint as error:
        way = " ".join(command("inspect", *argv))
        raise StalePlan(f"the plan is stale: {error.what}", way) from None
    created = saved.created if plan.options.created is None else plan.options.created
    right_incarnation(report, created)
    plan = replace(plan, options=replace(plan.options, created=created))
    report = verified_report(report, saved.ports.kinesis)
    planned = None
    if isinstance(report.decision, Plan):
        again = _again(request, plan, "--plan", str(path))
        planned = _made_before(request, report, report.decision, plan, again, argv)
        unambiguous(report, created)
        require_verified(report, created)
        observer.planned(planned)
    reached = replace(
        request, account=saved.account, journal=request.journal or saved.journal,
        watch=request.watch or saved.watch,
    )
    return Prepared(reached, saved.ports, locator, plan, report, planned, argv)


def _made_before(
    request: FixRequest, report: Report, decision: Plan, plan: SavedPlan, again: Again,
    argv: tuple[str, ...],
) -> Planned:
    """What an earlier command planned, to be consented to by this one, whatever that one accepted.

    again: as of `_again`. argv: the words that name its consumer.
    """
    shown = replace(report, decision=unasked(decision))
    return Planned(shown, plan, accept_of(request.accept), argv, (), again)


def in_own_words(request: FixRequest, plan: SavedPlan, *source: str) -> SavedPlan:
    """The plan with what this command says in place of what an earlier one said.

    No file carries leave to begin anew, or somebody's word on whose the positions are. source: the
    option and the file that name it. Raises NotConfirmed where that was not given here.
    """
    options, again = plan.options, _again(request, plan, *source)
    accepted = request.accept or ""
    if options.line is not None and request.plan is not None and request.verb == "fix":
        raise NotConfirmed(
            f"the positions of {source[-1]} come from a sink: rebuild asks for that, and fix does "
            "not", again.command(accepted),
        )
    if options.bootstrap and not request.bootstrap:
        raise NotConfirmed(
            f"{source[-1]} makes the first positions of an application that is new, which this "
            "command does not ask for", again.command(accepted, "--bootstrap"),
        )
    if options.recreated is not None and request.recreated is None:
        raise NotConfirmed(
            f"{source[-1]} starts over, as for a stream that was deleted and made again. If it "
            f"was, add --recreated {CREATION_TIME}, the stream's StreamCreationTimestamp",
            asking_for(plan.stream),
        )
    recreated = None if options.recreated is None else request.recreated_at
    own = replace(options, recreated=recreated, created=request.created_at)
    return replace(plan, options=own)


def _again(request: FixRequest, plan: SavedPlan, *source: str) -> Again:
    """This command once more. source: the option and the file that name the plan."""
    verb = "fix" if plan.options.line is None else "rebuild"
    own: list[str] = ["--bootstrap"] if request.bootstrap else []
    for option, time in (("--recreated", request.recreated_at), ("--created", request.created_at)):
        own += [] if time is None else [option, instant(time)]
    return Again(verb, (*source, *own, *request.account.argv()), request.how)


def resume(
    request: FixRequest, name: str, confirm: Confirm, observer: Observer
) -> FixResult:
    """Finishes an interrupted fix, with consent. name: its journal's name, path or place on S3."""
    journal, records = Journal.open(Journals(request.account).named(name))
    path = journal.path
    back = f"reshardctl undo {shlex.quote(str(path))}"
    with journal:
        plan = plan_of(records)
        locator = parse(plan.locator)
        observer.phase(f"{path} names {plan.locator} on stream {plan.stream}")
        argv = tuple(suggested_command(locator, plan.stream, request.account))
        again = new_plan(plan.unvouched, request.account)
        if records.undo is not None:
            if records.undo.outcome == "undone":
                raise UsageError(f"{path}: this fix is undone already", again)
            raise UsageError(f"{path}: its undo was begun", back)
        if records.fix.outcome == "verified":
            raise UsageError(
                f"{path}: this fix was finished and verified, there is nothing to go on with",
                f"{' '.join(command('inspect', *argv))}, or take it back: {back}",
            )
        command_again, digest = _again(request, plan, "--resume", name), plan.digest
        plan = in_own_words(request, plan, "--resume", name)
        if not made_here(digest, path):
            left = [step for n, step in enumerate(records.fix.current)
                    if n not in records.fix.applied]  # fmt: skip
            accepting = command_again.command(request.accept or "")
            require_trust(str(path), plan, left, accepting, observer)
        saved = of_saved(request.account, request.config, locator, plan.stream, observer)
        ports, request = saved.ports, replace(request, watch=request.watch or saved.watch)
        if plan.options.created is None:
            plan = replace(plan, options=replace(plan.options, created=saved.created))
        with naming_next_step(again):
            rest, decision = left_over(ports, plan, locator, journal, records, request.live)
            before = survey(ports, plan.stream, locator, plan.options, plan.probe)
            right_times(before, plan.options.created)
            if not (plan.options.bootstrap or plan.options.recreated or plan.options.line):
                unambiguous(before, plan.options.created)
            planned = _made_before(
                request, before, decision, replace(plan, steps=tuple(rest.steps)),
                command_again, argv,
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
