"""`fix`: plan, prove, ask, journal, write, verify; and `plan`, which stops before the question.

Several consumers are read and watched at the same time, and written one after another. Each has a
consent, a journal and an outcome of its own: what fails for one leaves the others as they are, and
the exit code is the worst of all. One alone goes the same way, and its failure is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from reshardctl.at_once import AT_ONCE, at_once
from reshardctl.commands.consent import within_limit
from reshardctl.commands.exclusions import SEVERAL, require_compatible
from reshardctl.commands.fix_copy import folder_of, into_copy
from reshardctl.commands.named import one, several
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.planned import Confirm, FixResult, Planned, note_plan
from reshardctl.commands.repair import Fresh, Repair, require_writable
from reshardctl.commands.repair_from_file import FromPlan, of_file, require_known
from reshardctl.commands.skipped import save_skipped
from reshardctl.commands.target import Target, asked, counting, scoped, with_given
from reshardctl.commands.write_requests import FixRequest, require_consistent
from reshardctl.errors import Cancelled, ReshardError, UsageError
from reshardctl.execution.plan_file import load_several, names_of, save_several
from reshardctl.exit import Exit, worst
from reshardctl.render.words import count
from reshardctl.report.results import Fixes, Saved


def plan(request: FixRequest, observer: Observer = SILENT) -> Planned:
    """Makes the plan that `fix` would write. Writes nothing but the plan's file, if one is named.

    Raises UsageError for a request that cannot be met, before anything is called; Refused for a
    question that has to be answered first; CannotTell for what cannot be read.
    """
    require_consistent(request, dry_run=True)
    target = _target(request, observer)
    if request.to is not None:
        folder_of(request, target, request.to, dry_run=True)
    require_writable(request, target, dry_run=True)
    planned = planned_alone(Fresh(replace(request, yes=False), target, observer), observer)
    if request.skipped is not None:
        save_skipped(request.skipped, planned.report, planned.steps, observer)
    return planned


def fix(
    request: FixRequest, confirm: Confirm = within_limit, observer: Observer = SILENT
) -> FixResult:
    """Repairs a consumer's positions, applies a saved plan, or finishes an interrupted fix.

    confirm: called with the plan before anything is written, and with what is left of an
    interrupted fix; by default what the request accepts is written. Raises what `plan` raises;
    NotConfirmed, ConsumerRunning and StalePlan, when nothing was written; HalfDone, naming the
    journal, if some rows were written and others not.
    """
    require_consistent(request, dry_run=False)
    repair = of_file(request, observer)
    if repair is None:
        target = _target(request, observer)
        if request.to is not None:
            target, made = into_copy(request, target, request.to, observer)
            if not made:
                planned = planned_alone(Fresh(request, target, observer), observer)
                return FixResult(planned, None, planned.words)
        require_writable(request, target, dry_run=False)
        repair = Fresh(request, target, observer, copied=request.to is not None)
    with repair.held:
        carry_through([repair], confirm, observer)
        result = repair.result
    if request.skipped is not None and result.fixed is None:
        save_skipped(request.skipped, result.report, (), observer)
    return result


def plan_many(
    request: FixRequest, consumers: Sequence[str], observer: Observer = SILENT
) -> Fixes:
    """Makes the plans that `fix_many` would write. Writes nothing but the plans' file.

    consumers: locators, or names in reshardctl.toml.

    Raises:
        UsageError: The request cannot be met; nothing was called.
    """
    repairs = _of_consumers(request, consumers, observer, dry_run=True)
    _plan(repairs, observer)
    return _fixes(repairs, _saved(request.out, repairs), dry_run=True)


def fix_many(
    request: FixRequest, consumers: Sequence[str] = (), confirm: Confirm = within_limit,
    observer: Observer = SILENT,
) -> Fixes:
    """Repairs the positions of several consumers, or applies a file of several plans.

    consumers: locators, or names in reshardctl.toml; none with `request.plan`. confirm: called with
    each plan, after all of them were shown and before any is written.

    Raises:
        UsageError: The request cannot be met; nothing was called.
    """
    if consumers or request.plan is None:
        repairs = _of_consumers(request, consumers, observer, dry_run=False)
    else:
        repairs = _of_plans(request, request.plan, observer)
    saved = carry_through(repairs, confirm, observer, request.out)
    return _fixes(repairs, saved, dry_run=False)


def carry_through(
    repairs: Sequence[Repair], confirm: Confirm, observer: Observer, out: Path | None = None
) -> Saved | None:
    """Plans all, asks for each, watches all at the same time, and writes one after another.

    out: a file for the plans of several, saved before the first question.
    """
    _plan(repairs, observer)
    saved = _saved(out, repairs)
    for repair in _going(repairs):
        with repair.keeping_failure():
            repair.require_watchable()
            repair.consent(confirm)
    ready = _going(repairs)
    if any(repair.name for repair in ready):
        observer.phase(f"looking for signs of life of {count(len(ready), 'consumer')}")
    _together([(repair, repair.watch) for repair in ready], len(ready))
    for repair in _going(repairs):
        with repair.keeping_failure():
            if repair.name and observer.interrupted():
                raise Cancelled("interrupted before its first write")
            repair.write(observer)
    return saved


def planned_alone(repair: Repair, observer: Observer) -> Planned:
    """The plan of one repair, of which nothing is written. Raises its failure."""
    _plan([repair], observer)
    planned = repair.result.planned
    assert planned is not None
    return planned


def several_plans(request: FixRequest, *, dry_run: bool) -> bool:
    """Whether a request names a file of several plans. UsageError for what cannot be met."""
    if request.plan is None:
        return False
    require_consistent(request, dry_run=dry_run)
    return len(load_several(request.plan)) > 1


def _target(request: FixRequest, observer: Observer) -> Target:
    target = counting(one(request.consumer or "", request, observer), request.count)
    return scoped(with_given(request, target), request.scope)


def _of_consumers(
    request: FixRequest, consumers: Sequence[str], observer: Observer, *, dry_run: bool
) -> list[Repair]:
    _only_for_one(request)
    require_consistent(replace(request, consumer=consumers[0]), dry_run=dry_run)
    targets = [
        scoped(counting(target, request.count), request.scope)
        for target in several(consumers, request, observer)
    ]
    for target in targets:
        require_writable(request, target, dry_run=dry_run)
    in_one_file = replace(request, out=None)
    return [Fresh(in_one_file, target, observer, _name(target)) for target in targets]


def _name(target: Target) -> str:
    return target.locator.text if target.entry is None else target.entry.name


def _only_for_one(request: FixRequest) -> None:
    require_compatible({*asked(request), SEVERAL}, SEVERAL)
    if (request.journal or "").endswith(".jsonl"):
        what = f"--journal {request.journal} is for one consumer"
        raise UsageError(what, "name one, or leave it out")


def _of_plans(request: FixRequest, path: Path, observer: Observer) -> list[Repair]:
    require_consistent(request, dry_run=False)
    plans = load_several(path)
    for plan in plans:
        require_known(request, plan, path, observer)
    named = zip(names_of(plans), plans, strict=True)
    return [FromPlan(request, plan, path, observer, name) for name, plan in named]


def _plan(repairs: Sequence[Repair], observer: Observer) -> None:
    """Plans all at the same time, then tells of their plans in order."""
    for repair in repairs:
        with repair.keeping_failure():
            repair.open()
    opened = [repair for repair in repairs if repair.failure is None]
    _together([(repair, repair.plan) for repair in opened], AT_ONCE)
    for repair in repairs:
        if repair.name and repair.planned is not None:
            observer.planned(repair.planned)
    require_different_rows(repairs)


def _going(repairs: Sequence[Repair]) -> list[Repair]:
    return [repair for repair in repairs if repair.going]


def _together(stages: Sequence[tuple[Repair, Callable[[], None]]], most: int) -> None:
    """Does a stage of all, `most` at a time; that of one alone in the thread of the caller."""
    if len(stages) == 1 and not stages[0][0].name:
        repair, stage = stages[0]
        with repair.keeping_failure():
            stage()
        return
    outcomes = at_once([stage for _, stage in stages], most)
    for (repair, _), outcome in zip(stages, outcomes, strict=True):
        if isinstance(outcome, ReshardError):
            repair.failure = outcome


def require_different_rows(repairs: Sequence[Repair]) -> None:
    """Ends the second of two repairs of the positions of one stream in one store."""
    first: dict[object, str] = {}
    for repair in repairs:
        if repair.ready is None or repair.failure is not None:
            continue
        snapshot, locator = repair.ready.before.snapshot, repair.ready.locator
        picked = tuple(locator.options.get(name, "") for name in locator.spec.selectors)
        rows = (snapshot.lineage.stream.arn, frozenset(snapshot.store.items()), picked)
        other = first.setdefault(rows, repair.name)
        if other != repair.name:
            repair.failure = UsageError(
                f"{repair.name} and {other} have the same positions", "leave one of them out"
            )


def _saved(out: Path | None, repairs: Sequence[Repair]) -> Saved | None:
    """The file of all plans, if one is named and there are any."""
    plans = [each.ready.plan for each in repairs if each.ready and each.failure is None]
    if out is None or not plans:
        return None
    for plan in plans:
        note_plan(plan.digest)
    return save_several(plans, out)


def _fixes(repairs: Sequence[Repair], saved: Saved | None, *, dry_run: bool) -> Fixes:
    consumers = tuple(repair.shown for repair in repairs)
    codes = [each.exit for each in consumers]
    code = worst(*codes)
    if Exit.CANCELLED in codes and code in (Exit.OK, Exit.FINDINGS):
        code = Exit.FINDINGS if any(each.fixed for each in consumers) else Exit.CANCELLED
    return Fixes(consumers, code, dry_run, saved)
