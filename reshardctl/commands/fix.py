"""`fix`: plan, prove, ask, journal, write, verify; and `plan`, which stops before the question."""

from __future__ import annotations

from reshardctl.commands.consent import within_limit
from reshardctl.commands.fix_consumer import fix_target, plan_for, writable
from reshardctl.commands.fix_copy import folder_of, into_copy
from reshardctl.commands.fix_saved import fix_from_plan, resume
from reshardctl.commands.named import one
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.planned import Confirm, FixResult, Planned
from reshardctl.commands.target import Target, counting, scoped, with_given
from reshardctl.commands.write_requests import FixRequest, require_consistent


def plan(request: FixRequest, observer: Observer = SILENT) -> Planned:
    """Makes the plan that `fix` would write. Writes nothing but the plan's file, if one is named.

    Raises UsageError for a request that cannot be met, before anything is called; Refused for a
    question that has to be answered first; CannotTell for what cannot be read.
    """
    require_consistent(request, dry_run=True)
    target = _target(request, observer)
    if request.to is not None:
        folder_of(request, target, request.to, dry_run=True)
    writable(request, target, dry_run=True)
    return plan_for(request, target, target.ports(), observer)


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
    if request.plan is not None:
        return fix_from_plan(request, request.plan, confirm, observer)
    if request.resume is not None:
        return resume(request, request.resume, confirm, observer)
    target = _target(request, observer)
    if request.to is not None:
        return into_copy(request, target, request.to, confirm, observer)
    return fix_target(request, target, confirm, observer)


def _target(request: FixRequest, observer: Observer) -> Target:
    target = counting(one(request.consumer or "", request, observer), request.count)
    return scoped(with_given(request.given, target), request.scope)
