"""What the sources of a fix share: a store, a saved plan, a journal."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reshardctl.commands.consent import Again, consent
from reshardctl.commands.fix_request import Asked
from reshardctl.commands.journals import Journals, kept_if_used
from reshardctl.commands.read_only import only_read
from reshardctl.commands.suggested_commands import again
from reshardctl.commands.target import Target
from reshardctl.commands.targets import configured
from reshardctl.commands.targets import snapshot as offline
from reshardctl.console.files import is_regular, replace_file
from reshardctl.console.interrupt import finishing_the_step, treat_sigterm_as_ctrl_c
from reshardctl.console.output import Output
from reshardctl.console.progress import note, phase
from reshardctl.consumers import locator as locators
from reshardctl.consumers.base import Incarnation
from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.report import Report, question
from reshardctl.errors import (
    ConsumerRunning,
    EmptyCheckpoint,
    HalfDone,
    Refused,
    ReshardError,
    StalePlan,
    UsageError,
)
from reshardctl.execution import plan_file as savedplan
from reshardctl.execution.apply import Applied, half_done
from reshardctl.execution.plan_file import SavedPlan
from reshardctl.execution.repair import Ports, carry_out, survey, verify, watch
from reshardctl.execution.repair import go_on as finish
from reshardctl.exit import Exit
from reshardctl.journal import Header, Journal, Where
from reshardctl.model import Step
from reshardctl.model.times import duration, instant, parse_seconds, same_second
from reshardctl.planning.consent import flag
from reshardctl.planning.live_writes import counted, require_live, suggesting
from reshardctl.planning.plan import Ask, NoLine, Nothing, Plan
from reshardctl.render.outcomes import Fixed, Saved


def patience(watch: str, dry_run: bool) -> float:
    """Seconds to look for signs of life. UsageError for none: that would prove nothing."""
    seconds = parse_seconds(watch)
    if not seconds and not dry_run:
        raise UsageError(
            f"--watch {watch} shows nothing of whether the consumer is stopped",
            "if you know that it is, say so: --assume-stopped",
        )
    return seconds


def nothing_else(source: str, given: Mapping[str, bool]) -> None:
    """UsageError for options that a saved plan or a journal has settled already."""
    if wrong := [name for name, is_given in given.items() if is_given]:
        raise UsageError(
            f"{source} and {wrong[0]} exclude each other",
            "what is written was settled when it was made; leave it out",
        )


def one_source(given: Sequence[str], stream: str | None, verb: str = "fix") -> None:
    """UsageError unless exactly one of consumer, plan and journal is named."""
    if len(given) != 1:
        both = f"{' and '.join(given)} exclude each other"
        what = both if given else f"nothing to {verb} is named"
        more = "" if verb == "fix" else " --from SINK"
        raise UsageError(
            what, f"reshardctl {verb} CONSUMER --stream STREAM{more}, or --plan PLAN, or --resume "
            "JOURNAL",
        )
    if given != ["a consumer"] and stream is not None:
        raise UsageError(f"{given[0]} names its stream itself", "leave --stream out")


def from_store(asked: Asked, target: Target) -> Exit:
    """Plan afresh, and unless it is a dry run, carry it out."""
    if target.offline:
        offline.only_shown(asked.dry_run, asked.out, target)
    only_read(target.place, asked.dry_run, asked.out)
    out = asked.to(target.to_write or target.words)
    ports = target.ports()
    treat_sigterm_as_ctrl_c()
    report = survey(ports, target.stream, target.place, target.wishes, target.probe)
    _right_incarnation(report, asked.created)
    decision = report.decision
    if not isinstance(decision, Plan):
        return _without_plan(out, report)
    wanted = replace(report, wishes=replace(report.wishes, created=asked.created))
    plan = savedplan.of_report(wanted, target.probe)
    if asked.out is not None:
        _save(plan, asked.out)
    saved = None if asked.out is None else Saved(str(asked.out), plan.digest)
    show = asked.dry_run or not asked.quiet
    if show:
        out.plan(report, Exit.FINDINGS, dry_run=asked.dry_run, saved=saved)
    if asked.live:
        require_live(plan.steps)
    if asked.dry_run:
        return Exit.FINDINGS
    once_more = Again(asked, "rebuild" if asked.sink else "fix", (*out.again, *asked.sink))
    _unambiguous(report, asked.created, once_more)
    consent(once_more, decision, target.wishes.accept)
    return _apply(asked, ports, plan, target.place, out, report)


def _save(plan: SavedPlan, path: Path) -> None:
    """Into a new file that is the owner's alone, or into what is there and is no file."""
    if is_regular(path):
        savedplan.save(plan, path)
    else:
        replace_file(path, savedplan.text(plan))


def _without_plan(out: Output, report: Report) -> Exit:
    match report.decision:
        case Nothing() | NoLine():
            code = _left(report)
        case Ask():
            code = Exit.REFUSED
        case _:
            raise AssertionError("a plan is no reason to have none")
    out.plan(report, code, dry_run=True, saved=None)
    if isinstance(report.decision, Ask):
        raise Refused(
            f"{report.decision.needs} first",
            f"give {question(report, report.decision)}",
        )
    return code


def _right_incarnation(report: Report, created: float | None) -> None:
    """The times that an operator names must be this stream's."""
    stream = report.snapshot.lineage.stream
    for named in (report.wishes.recreated, created):
        if named is None or same_second(named, stream.created):
            continue
        raise Refused(
            f"stream {stream.name} was created at {instant(stream.created)}, not "
            f"{instant(named)}",
            "look at the stream again: aws kinesis describe-stream-summary",
        )
    if report.wishes.recreated is not None and report.incarnation is Incarnation.SAME:
        raise Refused(
            "--recreated: the store has numbers of this very stream",
            "leave --recreated out",
        )


def _unambiguous(report: Report, created: float | None, again: Again) -> None:
    if report.incarnation is Incarnation.AMBIGUOUS and created is None:
        stamp = instant(report.snapshot.lineage.stream.created)
        assert isinstance(report.decision, Plan)
        accepted = flag(report.decision, again.asked.accept or report.wishes.accept)
        raise Refused(
            "the store holds no sequence number, so nothing shows that its positions belong to "
            "this stream and not to an earlier one of its name. If they do, add "
            f"--created {stamp}:",
            again.command(accepted, "--created", stamp),
        )


def from_file(asked: Asked, path: Path) -> Exit:
    """Apply a saved plan exactly, or refuse."""
    plan = savedplan.load(path)
    place = locators.parse(plan.locator)
    out = asked.to(again(place, plan.stream, asked.account))
    asked, ports = configured.of_saved(asked, place, plan.stream)
    treat_sigterm_as_ctrl_c()
    try:
        report = survey(ports, plan.stream, place, plan.wishes, plan.probe)
    except EmptyCheckpoint as error:
        way = "look again with reshardctl inspect"
        raise StalePlan(f"the plan is stale: {error.what}", way) from None
    created = plan.wishes.created if asked.created is None else asked.created
    _right_incarnation(report, created)
    stamp = () if asked.created is None else ("--created", instant(asked.created))
    verb = "fix" if plan.wishes.line is None else "rebuild"
    once_more = Again(asked, verb, ("--plan", str(path), *asked.account.words(), *stamp))
    _unambiguous(report, created, once_more)
    if isinstance(report.decision, Plan):  # else it is stale, and refused as that
        if not asked.quiet:
            out.plan(report, Exit.FINDINGS, dry_run=False)
        consent(once_more, report.decision, asked.accept or plan.wishes.accept)
    return _apply(asked, ports, plan, place, out, report)


def _apply(
    asked: Asked, ports: Ports, plan: SavedPlan, place: Locator, out: Output, before: Report
) -> Exit:
    watched = allowed(asked, ports, place, plan.steps)
    header = header_of(plan, ports, watched)
    log = Journals(asked.account).new(asked.journal, header)
    with kept_if_used(log, header) as journal, finishing_the_step():
        phase(f"journal {journal.path}")
        applied = carry_out(ports, plan, place, journal, asked.live)
        report = _verified(ports, plan, place, journal)
        return _show(out, before, report, applied, journal.path)


def _show(out: Output, before: Report, after: Report, applied: Applied, journal: Where) -> Exit:
    code = _left(after)
    outcome = Fixed(
        before, after, applied.steps, str(journal), applied.written, applied.recognised
    )
    out.fixed(outcome, code)
    return code


def go_on(asked: Asked, name: str) -> Exit:
    """Finish a fix that was interrupted. name: its journal's name, path or place on S3."""
    journal, records = Journal.open(Journals(asked.account).named(name))
    path = journal.path
    with journal:
        if records.undo is not None:
            raise UsageError(f"{path}: its undo was begun", f"reshardctl undo {path}")
        if records.fix.outcome == "verified":
            raise UsageError(
                f"{path}: this fix was finished and verified, there is nothing to go on with",
                f"reshardctl inspect, or take it back: reshardctl undo {path}",
            )
        plan = savedplan.parsed(records.header.notes.get("saved", ""), str(path))
        place = locators.parse(plan.locator)
        out = asked.to(again(place, plan.stream, asked.account))
        asked, ports = configured.of_saved(asked, place, plan.stream)
        treat_sigterm_as_ctrl_c()
        before = survey(ports, plan.stream, place, plan.wishes, plan.probe)
        allowed(asked, ports, place, plan.steps)
        with finishing_the_step():
            applied = finish(ports, plan, place, journal, records, asked.live)
            report = _verified(ports, plan, place, journal)
            return _show(out, before, report, applied, path)


def _verified(
    ports: Ports, plan: SavedPlan, place: Locator, journal: Journal
) -> Report:
    """What was written stays written: a failure to look at it afterwards is half done."""
    try:
        return verify(ports, plan, place, journal)
    except HalfDone:
        raise
    except ReshardError as error:
        raise half_done(
            journal, f"everything was written, but it could not be verified: {error.what}"
        ) from error


def _left(report: Report) -> Exit:
    return Exit.OK if report.nothing_left else Exit.FINDINGS


def allowed(asked: Asked, ports: Ports, place: Locator, steps: Sequence[Step]) -> str:
    """Words for the journal on why these steps may be written: the consumer is stopped, or every
    one of them is safe while it runs."""
    if asked.live:
        require_live(steps)
        return f"--live: {counted(steps)}"
    try:
        return stopped(asked, ports, place)
    except ConsumerRunning as refusal:
        raise suggesting(refusal, steps) from None


def stopped(asked: Asked, ports: Ports, place: Locator) -> str:
    """Words for the journal on why the consumer is taken to be stopped."""
    if asked.assume_stopped:
        return "the operator says that it is stopped"
    phase(f"looking for signs of life for {duration(asked.watch)}")
    excluded = watch(ports, place, asked.watch)
    note(f"not running: {excluded}")
    return excluded


def header_of(plan: SavedPlan, ports: Ports, watched: str) -> Header:
    """What the journal of this plan begins with. watched: why the consumer is taken to be stopped.
    """
    stream = {"arn": plan.stream, "created": instant(plan.created)}
    return Header(
        plan.digest, plan.locator, dict(plan.store), stream, plan.wishes.policy.name,
        os.environ.get("USER", ""), instant(ports.clock()), plan.steps,
        {"stopped": watched, "saved": savedplan.text(plan)},
    )

