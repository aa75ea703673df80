"""`fix` for several consumers: read and watched at the same time, written one after another.

Each consumer has a consent, a journal and an outcome of its own. What fails for one leaves the
others as they are; the exit code is the worst of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reshardctl.commands.consent import require_consent, within_limit
from reshardctl.commands.fix_consumer import (
    consented,
    plan_for,
    request_for,
    writable,
    write_allowed,
)
from reshardctl.commands.fix_saved import prepared, require_known
from reshardctl.commands.inspect import at_once
from reshardctl.commands.named import several
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.planned import Confirm, Planned, left, note_plan
from reshardctl.commands.target import Target, counting, scoped
from reshardctl.commands.write import allowed
from reshardctl.commands.write_requests import FixRequest, require_consistent
from reshardctl.consumers.locator import Locator
from reshardctl.errors import Cancelled, ReshardError, UsageError
from reshardctl.execution.plan_file import SavedPlan, load_several, names_of, save_several
from reshardctl.exit import Exit, worst
from reshardctl.render.fixes import ConsumerFix, Fixes
from reshardctl.render.words import count
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Saved
from reshardctl.snapshot import Ports


@dataclass(frozen=True, slots=True)
class _Ready:
    """What a plan is written with. consent: raises Refused unless it may be written."""

    request: FixRequest
    ports: Ports
    locator: Locator
    plan: SavedPlan
    report: Report
    consent: Callable[[Confirm], None]


@dataclass(frozen=True, slots=True)
class _Work:
    """A consumer on its way from its name to what came of it."""

    name: str
    stream: str
    planned: Planned | None = None
    ready: _Ready | None = None
    fixed: Fixed | None = None
    failure: ReshardError | None = None

    @property
    def going(self) -> _Ready | None:
        """What is to be written, as long as nothing has failed."""
        return self.ready if self.failure is None else None

    @property
    def exit(self) -> Exit:
        """The exit code of a `fix` of this consumer alone."""
        if self.failure is not None:
            return self.failure.exit
        if self.fixed is not None:
            return left(self.fixed.after)
        return Exit.OK if self.planned is None else self.planned.exit

    @property
    def shown(self) -> ConsumerFix:
        """The outcome, to be rendered."""
        report = None if self.planned is None else self.planned.report
        return ConsumerFix(
            self.name, self.stream, report, self.fixed, self.failure, self.exit
        )


def plan_many(
    request: FixRequest, consumers: Sequence[str], observer: Observer = SILENT
) -> Fixes:
    """Makes the plans that `fix_many` would write. Writes nothing but the plans' file.

    consumers: locators, or names in reshardctl.toml.

    Raises:
        UsageError: The request cannot be met; nothing was called.
    """
    works = _planned(request, consumers, observer, dry_run=True)
    return _fixes(works, _saved(request, works), dry_run=True)


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
        works = _planned(request, consumers, observer, dry_run=False)
    else:
        works = _prepared(request, request.plan, observer)
    saved = _saved(request, works)
    works = [_consented(work, confirm) for work in works]
    reasons = _watched(works, observer)
    works = [_written(*pair, observer) for pair in zip(works, reasons, strict=True)]
    return _fixes(works, saved, dry_run=False)


def _fixes(works: Sequence[_Work], saved: Saved | None, *, dry_run: bool) -> Fixes:
    consumers = tuple(work.shown for work in works)
    codes = [each.exit for each in consumers]
    code = worst(*codes)
    if Exit.CANCELLED in codes and code in (Exit.OK, Exit.FINDINGS):
        code = Exit.FINDINGS if any(each.fixed for each in consumers) else Exit.CANCELLED
    return Fixes(consumers, code, dry_run, saved)


def _planned(
    request: FixRequest, consumers: Sequence[str], observer: Observer, *, dry_run: bool
) -> list[_Work]:
    _only_for_one(request)
    require_consistent(replace(request, consumer=consumers[0]), dry_run=dry_run)
    targets = [
        scoped(counting(target, request.count), request.scope)
        for target in several(consumers, request, observer)
    ]
    for target in targets:
        writable(request, target, dry_run=dry_run)
    jobs = [_planning(target, replace(request, out=None)) for target in targets]
    return _read(jobs, [_Work(_name(target), target.stream) for target in targets], observer)


def _prepared(request: FixRequest, path: Path, observer: Observer) -> list[_Work]:
    require_consistent(request, dry_run=False)
    plans = load_several(path)
    for plan in plans:
        require_known(request, plan, path, observer)
    jobs = [_preparing(plan, request, path) for plan in plans]
    named = zip(names_of(plans), plans, strict=True)
    return _read(jobs, [_Work(name, plan.stream) for name, plan in named], observer)


_Job = Callable[["_Withholding"], "_Ready | None"]


def _read(jobs: Sequence[_Job], works: Sequence[_Work], observer: Observer) -> list[_Work]:
    """Judges all consumers at the same time, then tells of their plans in order."""
    observers = [_Withholding(observer, work.name) for work in works]
    results = at_once([_bound(*pair) for pair in zip(jobs, observers, strict=True)])
    finished = []
    for work, withheld, result in zip(works, observers, results, strict=True):
        work = replace(work, planned=withheld.plan)
        if withheld.plan is not None:
            observer.planned(withheld.plan)
        if isinstance(result, ReshardError):
            finished.append(replace(work, failure=result))
        else:
            finished.append(replace(work, ready=result))
    return _of_different_rows(finished)


def _bound(job: _Job, observer: _Withholding) -> Callable[[], _Ready | None]:
    return lambda: job(observer)


def several_plans(request: FixRequest, *, dry_run: bool) -> bool:
    """Whether a request names a file of several plans. UsageError for what cannot be met."""
    if request.plan is None:
        return False
    require_consistent(request, dry_run=dry_run)
    return len(load_several(request.plan)) > 1


def _only_for_one(request: FixRequest) -> None:
    given = {
        "--resume": request.resume is not None, "--plan": request.plan is not None,
        "--to": request.to is not None, "--recreated": request.recreated is not None,
        "--created": request.created is not None,
        **request.given.given,
        f"--journal {request.journal}": (request.journal or "").endswith(".jsonl"),
    }
    if wrong := [option for option, is_given in given.items() if is_given]:
        raise UsageError(f"{wrong[0]} is for one consumer", "name one, or leave it out")


def _name(target: Target) -> str:
    return target.locator.text if target.entry is None else target.entry.name


def _planning(target: Target, request: FixRequest) -> _Job:
    """Plans afresh. The ports are made now: making clients is not thread-safe."""
    try:
        ports = target.ports()
    except ReshardError as failure:
        return _failing(failure)

    def plan(observer: _Withholding) -> _Ready | None:
        planned = observer.named(
            plan_for(request, target, ports, observer, unasked=request.yes)
        )
        if planned.plan is None:
            return None
        return _Ready(
            request_for(request, target), ports, target.locator, planned.plan, planned.report,
            lambda confirm: consented(planned, confirm),
        )

    return plan


def _preparing(plan: SavedPlan, request: FixRequest, path: Path) -> _Job:
    """Makes a saved plan again."""

    def prepare(observer: _Withholding) -> _Ready:
        ready = prepared(request, plan, path, observer)
        planned = None if ready.planned is None else observer.named(ready.planned)
        return _Ready(
            ready.request, ready.ports, ready.locator, ready.plan, ready.report,
            lambda confirm: None if planned is None else require_consent(planned, confirm),
        )

    return prepare


def _failing(failure: ReshardError) -> _Job:
    def fail(_observer: _Withholding) -> None:
        raise failure

    return fail


def _of_different_rows(works: Sequence[_Work]) -> list[_Work]:
    """Refuses the second of two consumers on the positions of one stream in one store."""
    first: dict[object, str] = {}
    unique = []
    for work in works:
        if work.going is not None:
            snapshot, locator = work.going.report.snapshot, work.going.locator
            picked = tuple(locator.options.get(name, "") for name in locator.spec.selectors)
            rows = (snapshot.lineage.stream.arn, frozenset(snapshot.store.items()), picked)
            other = first.setdefault(rows, work.name)
            if other != work.name:
                work = replace(work, failure=UsageError(
                    f"{work.name} and {other} have the same positions", "leave one of them out"
                ))
        unique.append(work)
    return unique


def _saved(request: FixRequest, works: Sequence[_Work]) -> Saved | None:
    plans = [work.going.plan for work in works if work.going is not None]
    if request.out is None or not plans:
        return None
    for plan in plans:
        note_plan(plan.digest)
    return save_several(plans, request.out)


def _consented(work: _Work, confirm: Confirm) -> _Work:
    if work.going is None:
        return work
    try:
        work.going.consent(confirm)
    except ReshardError as failure:
        return replace(work, failure=failure)
    return work


def _watched(works: Sequence[_Work], observer: Observer) -> list[str | ReshardError | None]:
    """Why each plan may be written, watched for at the same time; `None` without a plan."""
    ready = [(work.name, work.going) for work in works if work.going is not None]
    if ready:
        observer.phase(f"looking for signs of life of {count(len(ready), 'consumer')}")
    jobs = [_watching(going, _Withholding(observer, name)) for name, going in ready]
    reasons = iter(at_once(jobs, limit=max(1, len(jobs))))
    return [None if work.going is None else next(reasons) for work in works]


def _watching(ready: _Ready, observer: Observer) -> Callable[[], str]:
    return lambda: allowed(
        ready.request, ready.ports, ready.locator, ready.plan.steps, observer
    )


def _written(work: _Work, reason: str | ReshardError | None, observer: Observer) -> _Work:
    ready = work.going
    if ready is None or reason is None:
        return work
    if isinstance(reason, ReshardError):
        return replace(work, failure=reason)
    if observer.interrupted():
        return replace(work, failure=Cancelled("interrupted before its first write"))
    try:
        return replace(work, fixed=write_allowed(
            ready.request, ready.ports, ready.plan, ready.locator, ready.report, observer, reason
        ))
    except ReshardError as failure:
        return replace(work, failure=failure)


class _Withholding(Observer):
    """Keeps the plan back until all are made; notes name their consumer."""

    def __init__(self, observer: Observer, name: str) -> None:
        self._observer, self._name = observer, name
        self.plan: Planned | None = None

    def note(self, text: str) -> None:
        """Passes the remark on, with the consumer's name."""
        self._observer.note(f"{self._name}: {text}")

    def shards_listed(self, count: int) -> None:
        """Passes the count on."""
        self._observer.shards_listed(count)

    def planned(self, planned: Planned) -> None:
        """Keeps the plan."""
        self.plan = self.named(planned)

    def named(self, planned: Planned) -> Planned:
        """The plan with the consumer's name."""
        return replace(planned, name=self._name)

    def interrupted(self) -> bool:
        """Whether the whole command is to stop."""
        return self._observer.interrupted()
