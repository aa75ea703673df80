"""A repair: one consumer on its way from its name to what came of it.

`commands/fix.py` takes one or several through the stages, which are methods here. `Fresh` is
planned on what is stored now; `commands/repair_from_file.py` has those that an earlier command
planned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.argv import words
from reshardctl.commands.configured import told
from reshardctl.commands.connect import only_read
from reshardctl.commands.consent import naming_next_step, new_plan, require_consent
from reshardctl.commands.journals import Journals, kept_if_used, typed
from reshardctl.commands.named import only_shown
from reshardctl.commands.observer import Observer
from reshardctl.commands.open_store import saying_how_to_make
from reshardctl.commands.planned import Again, Confirm, FixResult, Planned, left
from reshardctl.commands.requests import SUNK
from reshardctl.commands.skipped import handing_over
from reshardctl.commands.survey import survey, telling_unfinished
from reshardctl.commands.target import Target, require_known, require_sound
from reshardctl.commands.unfinished import require_alone
from reshardctl.commands.whose_rows import (
    of_this_stream,
    require_apart,
    require_verified,
    right_incarnation,
    unambiguous,
    verified_report,
)
from reshardctl.commands.write import allowed, header_of, proven, verify
from reshardctl.commands.write_requests import FixRequest, ways_to_write
from reshardctl.consumers.locator import Locator
from reshardctl.errors import Refused, ReshardError
from reshardctl.execution.apply import Applied, apply
from reshardctl.execution.plan_file import SavedPlan, of_report
from reshardctl.execution.proof import renewing
from reshardctl.execution.watch import require_signs
from reshardctl.exit import Exit
from reshardctl.journal import Journal
from reshardctl.planning.plan import Ask, Plan
from reshardctl.planning.policy import POSITIONS, UNASKED
from reshardctl.planning.prices import exceeding, leaves_no_loss, unasked
from reshardctl.planning.writes import require_live
from reshardctl.render.content.questions import in_a_line
from reshardctl.render.words import count
from reshardctl.report.changes import all_residuals
from reshardctl.report.report import Report, make
from reshardctl.report.results import ConsumerFix, Fixed
from reshardctl.snapshot import Ports


class Ready(Struct, frozen=True):
    """What a plan is written with.

    request: with the account and the journal that reshardctl.toml names. before: the report that
    the plan was made from.
    """

    request: FixRequest
    ports: Ports
    locator: Locator
    plan: SavedPlan
    before: Report


class Repair:
    """One consumer on its way. The stages are called in the order of the methods.

    name: what to call it among several, "" for one alone; then nothing that it tells is kept back.
    held: what is open until the end. planned: what was shown. words: the arguments that name the
    consumer to other commands. ready: `None` where there is nothing to write. failure: ends the
    way.
    """

    def __init__(
        self, request: FixRequest, stream: str, observer: Observer, name: str = ""
    ) -> None:
        self.name, self.stream = name, stream
        self.held = ExitStack()
        self.words: tuple[str, ...] = ()
        self.planned: Planned | None = None
        self.ready: Ready | None = None
        self.fixed: Fixed | None = None
        self.failure: ReshardError | None = None
        self._request = request
        self._observer = _Named(observer, name) if name else observer
        self._why = ""

    def open(self) -> None:
        """Makes clients, one repair after another: that is not thread-safe."""

    def plan(self) -> None:
        """Reads, judges and plans; `ready` if there is something to write."""
        raise NotImplementedError

    def require_watchable(self) -> None:
        """Refused, before anybody is asked, where no watch can show that the consumer stands."""
        ready = self._writable
        if not (ready.request.live or ready.request.assume_stopped):
            require_signs(ready.locator)

    def consent(self, confirm: Confirm) -> None:
        """Raises Refused and NotConfirmed unless the plan may be written."""
        raise NotImplementedError

    def watch(self) -> None:
        """Raises ConsumerRunning and Refused unless rows may be written now."""
        ready = self._writable
        self._why = allowed(
            ready.request, ready.ports, ready.locator, ready.plan.steps, self._observer
        )

    def write(self, observer: Observer) -> None:
        """Proves the plan once more, journals and writes it, and verifies."""
        ready = self._writable
        plan, ports, locator, request = ready.plan, ready.ports, ready.locator, ready.request
        again = new_plan(plan, request.account)
        with naming_next_step(again, self.words):
            require_alone(ready.before.snapshot, request.journal)
        header = header_of(plan, ports, self._why)
        log = Journals(request.account).new(request.journal, header)
        with naming_next_step(again, self.words), kept_if_used(log, header) as journal:
            observer.writing()
            observer.phase(f"journal {journal.path}")
            steps = proven(ports, plan, locator, request.live)
            with handing_over(request.skipped, ready.before, plan.steps, observer):
                applied = apply(
                    plan.steps, steps, ports.store, journal, interrupted=ports.interrupted,
                    renewing=renewing(locator, request.live),
                )
            self._verify(journal, applied)

    def _verify(self, journal: Journal, applied: Applied) -> None:
        ready = self._writable
        after = _with_unlimited(verify(ready.ports, ready.plan, ready.locator, journal))
        self.fixed = Fixed(
            ready.before, after, applied.steps, str(journal.path), applied.written,
            applied.recognised, typed(journal.path),
        )

    @contextmanager
    def keeping_failure(self) -> Iterator[None]:
        """A context that ends this repair's way, and no other's, if it fails."""
        try:
            yield
        except ReshardError as failure:
            self.failure = failure

    @property
    def going(self) -> bool:
        """Whether there is something to write, and nothing has failed."""
        return self.ready is not None and self.failure is None

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
        """What came of it among several."""
        report = None if self.planned is None else self.planned.report
        return ConsumerFix(
            self.name, self.stream, report, self.fixed, self.failure, self.exit
        )

    @property
    def result(self) -> FixResult:
        """What came of it alone. Raises its failure."""
        if self.failure is not None:
            raise self.failure
        sink_words = () if self.planned is None else self.planned.sink_words
        return FixResult(self.planned, self.fixed, self.words, sink_words)

    @property
    def _writable(self) -> Ready:
        assert self.ready is not None
        return self.ready

    def _tell(self, planned: Planned) -> None:
        """Shows the plan; of several, once all are made."""
        self.planned = replace(planned, name=self.name)
        self._observer.planned(self.planned)


class _Named(Observer):
    """Keeps back what one of several tells while all are read; notes name their consumer."""

    def __init__(self, observer: Observer, name: str) -> None:
        self._observer, self._name = observer, name

    def note(self, text: str) -> None:
        """Passes the remark on, with the consumer's name."""
        self._observer.note(f"{self._name}: {text}")

    def shards_listed(self, count: int) -> None:
        """Passes the count on."""
        self._observer.shards_listed(count)

    def interrupted(self) -> bool:
        """Whether the whole command is to stop."""
        return self._observer.interrupted()


def require_writable(request: FixRequest, target: Target, *, dry_run: bool) -> None:
    """Raises UsageError and Refused, before any read, for what cannot be written.

    That is a consumer that can only be read, and a journal that cannot be made.
    """
    if target.offline:
        only_shown(dry_run, request.out, target)
    only_read(target.locator, dry_run, request.out)
    if not dry_run:
        configured_at = "" if target.entry is None else target.entry.sources.get("journal", "")
        Journals(request.account).check_before_write(
            _completed(request, target).journal, "" if request.journal else configured_at
        )


def _completed(request: FixRequest, target: Target) -> FixRequest:
    return request if target.entry is None else told(request, target.entry)


class Fresh(Repair):
    """A repair that is planned on what is stored now."""

    def __init__(
        self, request: FixRequest, target: Target, observer: Observer, name: str = "", *,
        copied: bool = False,
    ) -> None:
        """copied: whether the target is our own copy, which nobody reads."""
        super().__init__(request, target.stream, observer, name)
        self._target, self._copied = target, copied
        self._ports: Ports | None = None

    def open(self) -> None:
        """Makes the clients."""
        self._ports = self._target.ports()

    def plan(self) -> None:
        """Reads, judges and plans, saves the plan if asked to, and shows it.

        Raises Refused, after the plan was shown, for a question that is open and for a write that
        is not safe while the consumer runs, or for a selected part that cannot be mended by itself.
        """
        request, target, ports = self._request, self._target, self._ports
        assert ports is not None
        created = _created(request, target)
        report = self._report(ports, created)
        argv = report.options.policy.lasting(target.suggested)
        plan = None
        if isinstance(report.decision, Plan):
            plan = of_report(report, target.probe)
            if target.repair_options.bootstrap:
                _require_new(report)
            require_apart(report)
        self.words, sink = argv, words(request, SUNK)
        planned = Planned(
            self._priced(report), plan, report.options.accept, argv, sink,
            Again(request.verb, (*argv, *sink), ways_to_write(request, target.locator.text)),
        )
        if plan is not None and request.out is not None:
            if report.doubt and created is None:
                self._tell(planned)
            unambiguous(report, created)
            planned = replace(planned, saved=planned.save(request.out))
        if plan is not None and request.by_hand:
            _require_whose(report, created)
        self._tell(planned)
        if isinstance(report.decision, Ask):
            raise Refused(
                f"{report.decision.needs} first", f"give {in_a_line(report, report.decision)}"
            )
        require_sound(report, request.verb, argv)
        if plan is None:
            return
        if request.live:
            require_live(plan.steps)
        request = _completed(request, target)
        if self._copied:
            request = dataclasses.replace(request, assume_stopped=True)
        self.ready = Ready(request, ports, target.locator, plan, report)

    def _priced(self, report: Report) -> Report:
        """The report with the price that is asked about.

        What a policy skips that only reshardctl.toml names, nobody has said at this command.
        """
        decision, entry = report.decision, self._target.entry
        said = self._request.policy is not None or report.options.policy.name == POSITIONS.name
        if entry is None or said or not isinstance(decision, Plan):
            return report
        return replace(report, decision=unasked(decision))

    def _report(self, ports: Ports, created: float | None) -> Report:
        """What is stored now, judged; of a stream that is proven to be the positions' own."""
        target = self._target
        options = replace(target.repair_options, created=created)
        with saying_how_to_make(target.locator) if options.bootstrap else nullcontext():
            report = survey(ports, target.stream, target.locator, options, target.probe)
        require_known(report)
        right_incarnation(report, created)
        report = verified_report(report, ports.kinesis)
        of_this_stream(report)
        report = _without_dear_doubts(report) if self._request.yes else report
        return telling_unfinished(report, target)

    def consent(self, confirm: Confirm) -> None:
        """Raises Refused and NotConfirmed unless the plan is of this stream and may be written."""
        assert self.planned is not None
        _require_whose(self.planned.report, self._writable.plan.options.created)
        require_consent(self.planned, confirm)


def _require_new(report: Report) -> None:
    """Refused where the store of an application that is said to be new holds positions."""
    if report.positions:
        held = count(len(report.positions), "shard")
        raise Refused(
            f"--bootstrap is for a new application, and {report.snapshot.locator.text} has "
            f"positions of {held}",
            "leave --bootstrap out, or name the new application's own store",
        )


def _require_whose(report: Report, created: float | None) -> None:
    """Refused where it is not proven that the rows are the stream's."""
    unambiguous(report, created)
    require_verified(report, created)


def _without_dear_doubts(report: Report) -> Report:
    """The report with a plan that needs no question, if one mends all that is certain."""
    whole, options = report.decision, report.options
    if options.accept is not None or options.policy.skips or not isinstance(whole, Plan):
        return report
    if not exceeding(whole, None):
        return report
    part = make(report.snapshot, replace(options, accept=UNASKED))
    return replace(part, unlimited=whole) if leaves_no_loss(part.decision, whole) else report


def _with_unlimited(after: Report) -> Report:
    """The report after a fix, with the decision that `inspect` makes, which accepts any cost."""
    if after.options.accept != UNASKED or not all_residuals(after):
        return after
    whole = make(after.snapshot, replace(after.options, accept=None))
    return replace(after, unlimited=whole.decision)


def _created(request: FixRequest, target: Target) -> float | None:
    """The creation time of the stream that the positions belong to.

    It comes from the request, else from the configuration.
    """
    if request.created_at is not None or target.entry is None:
        return request.created_at
    return target.entry.stream.created
