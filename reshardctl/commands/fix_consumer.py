"""Plans the repair of a consumer afresh, and carries it out."""

from __future__ import annotations

from dataclasses import replace

from reshardctl.commands.configured import told
from reshardctl.commands.connect import only_read
from reshardctl.commands.consent import naming_next_step, new_plan, require_consent
from reshardctl.commands.journals import Journals, kept_if_used
from reshardctl.commands.named import only_shown
from reshardctl.commands.observer import Observer
from reshardctl.commands.planned import Again, Confirm, FixResult, Planned
from reshardctl.commands.survey import survey
from reshardctl.commands.target import Target, require_known, require_sound
from reshardctl.commands.whose_rows import (
    of_this_stream,
    require_verified,
    right_incarnation,
    unambiguous,
    verified_report,
)
from reshardctl.commands.write import allowed, carry_out, header_of, verify
from reshardctl.commands.write_requests import FixRequest
from reshardctl.consumers.locator import Locator
from reshardctl.errors import Refused
from reshardctl.execution.plan_file import SavedPlan, of_report
from reshardctl.planning.plan import Ask, Plan
from reshardctl.planning.policy import UNASKED
from reshardctl.planning.prices import exceeding, leaves_no_loss
from reshardctl.planning.writes import require_live
from reshardctl.report.report import Report, make, may_be_another_streams, question
from reshardctl.report.results import Fixed
from reshardctl.snapshot import Ports


def plan_for(
    request: FixRequest, target: Target, ports: Ports, observer: Observer, *, unasked: bool = False
) -> Planned:
    """Reads, judges and plans, saves the plan if asked to, and tells the observer of it.

    unasked: whether the plan is written without a question, as `FixRequest.yes` says.
    Raises Refused, after the observer was told, for a question that is open and for a write that is
    not safe while the consumer runs, or for a selected part that cannot be mended by itself.
    """
    created = _created(request, target)
    report = survey(ports, target.stream, target.locator, target.repair_options, target.probe)
    require_known(report)
    right_incarnation(report, created)
    report = verified_report(report, ports.kinesis)
    of_this_stream(report)
    if unasked:
        report = _without_dear_doubts(report)
    argv = target.to_write or target.argv
    plan = None
    if isinstance(report.decision, Plan):
        wanted = replace(report, options=replace(report.options, created=created))
        plan = of_report(wanted, target.probe)
    sink = request.sink_words
    planned = Planned(
        report, plan, report.options.accept, argv, sink,
        Again(request.verb, (*argv, *sink), request.how),
    )
    if plan is not None and request.out is not None:
        if may_be_another_streams(report) and created is None:
            observer.planned(planned)
        unambiguous(report, created)
        planned = replace(planned, saved=planned.save(request.out))
    observer.planned(planned)
    if isinstance(report.decision, Ask):
        raise Refused(
            f"{report.decision.needs} first", f"give {question(report, report.decision)}"
        )
    require_sound(report, request.verb, argv)
    if request.live and plan is not None:
        require_live(plan.steps)
    return planned


def _without_dear_doubts(report: Report) -> Report:
    """The report with a plan that needs no question, if one mends all that is certain."""
    whole, options = report.decision, report.options
    if options.accept is not None or options.policy.skips or not isinstance(whole, Plan):
        return report
    if not exceeding(whole, None):
        return report
    part = make(report.snapshot, replace(options, accept=UNASKED))
    return part if leaves_no_loss(part.decision, whole) else report


def writable(request: FixRequest, target: Target, *, dry_run: bool) -> None:
    """Raises UsageError and Refused, before any read, for what cannot be written.

    That is a consumer that can only be read, and a journal that cannot be made.
    """
    if target.offline:
        only_shown(dry_run, request.out, target)
    only_read(target.locator, dry_run, request.out)
    if not dry_run:
        configured_at = "" if target.entry is None else target.entry.sources.get("journal", "")
        Journals(request.account).check_before_write(
            request_for(request, target).journal, "" if request.journal else configured_at
        )


def fix_target(
    request: FixRequest, target: Target, confirm: Confirm, observer: Observer, *,
    copied: bool = False,
) -> FixResult:
    """Plans afresh, and writes the plan with consent.

    copied: whether the target is our own copy, which nobody reads.
    """
    writable(request, target, dry_run=False)
    ports = target.ports()
    planned = plan_for(request, target, ports, observer, unasked=request.yes)
    if planned.plan is None:
        return FixResult(planned, None, planned.words, planned.sink_words)
    consented(planned, confirm)
    request = request_for(request, target)
    if copied:
        request = replace(request, assume_stopped=True)
    fixed = write(request, ports, planned.plan, target.locator, planned.report, observer)
    return FixResult(planned, fixed, planned.words, planned.sink_words)


def consented(planned: Planned, confirm: Confirm) -> None:
    """Raises Refused unless the plan is of this stream and may be written."""
    created = None if planned.plan is None else planned.plan.options.created
    unambiguous(planned.report, created)
    require_verified(planned.report, created)
    require_consent(planned, confirm)


def request_for(request: FixRequest, target: Target) -> FixRequest:
    """The same request, with the account and the journal that reshardctl.toml names."""
    return request if target.entry is None else told(request, target.entry)


def write(
    request: FixRequest, ports: Ports, plan: SavedPlan, locator: Locator, before: Report,
    observer: Observer,
) -> Fixed:
    """Watches the consumer, then journals, writes and verifies a plan that there is consent to."""
    why = allowed(request, ports, locator, plan.steps, observer)
    return write_allowed(request, ports, plan, locator, before, observer, why)


def write_allowed(
    request: FixRequest, ports: Ports, plan: SavedPlan, locator: Locator, before: Report,
    observer: Observer, why: str,
) -> Fixed:
    """Journals, writes and verifies a plan. why: what `allowed` returned."""
    header = header_of(plan, ports, why)
    log = Journals(request.account).new(request.journal, header)
    again = new_plan(plan, request.account)
    with naming_next_step(again), kept_if_used(log, header) as journal:
        observer.writing()
        observer.phase(f"journal {journal.path}")
        applied = carry_out(ports, plan, locator, journal, request.live)
        after = verify(ports, plan, locator, journal)
        return Fixed(
            before, after, applied.steps, str(journal.path), applied.written, applied.recognised
        )


def _created(request: FixRequest, target: Target) -> float | None:
    """The creation time of the stream that the positions belong to.

    It comes from the request, else from the configuration.
    """
    if request.created_at is not None or target.entry is None:
        return request.created_at
    return target.entry.stream.created
