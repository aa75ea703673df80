"""Repairs that an earlier command planned: a saved plan, and a fix that was interrupted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from reshardctl.codec.argv import words
from reshardctl.commands.configured import of_saved
from reshardctl.commands.consent import naming_next_step, new_plan, require_consent, require_trust
from reshardctl.commands.journals import Journals
from reshardctl.commands.observer import Observer
from reshardctl.commands.places import remembered
from reshardctl.commands.planned import Again, Confirm, Planned, made_here
from reshardctl.commands.repair import Ready, Repair
from reshardctl.commands.requests import REACHED
from reshardctl.commands.survey import survey
from reshardctl.commands.target import accept_of
from reshardctl.commands.unfinished import with_unfinished
from reshardctl.commands.whose_rows import (
    asking_for,
    require_verified,
    right_incarnation,
    right_times,
    unambiguous,
    verified_report,
)
from reshardctl.commands.write import left_over
from reshardctl.commands.write_requests import FixRequest, ways_to_write
from reshardctl.consumers.locator import Locator, parse
from reshardctl.errors import (
    EmptyCheckpoint,
    HalfDone,
    NotConfirmed,
    Refused,
    StalePlan,
    UsageError,
)
from reshardctl.execution.apply import resume
from reshardctl.execution.plan_file import SavedPlan, load
from reshardctl.execution.proof import plan_of, planned_again, renewing, require_same
from reshardctl.journal import Journal, Records
from reshardctl.model import Image, keys_of
from reshardctl.planning.plan import CREATION_TIME, Plan
from reshardctl.planning.prices import unasked
from reshardctl.render.words import command
from reshardctl.report.report import Report


def of_file(request: FixRequest, observer: Observer) -> Repair | None:
    """The repair that the request's plan or journal holds; `None` if it names a consumer."""
    if request.plan is not None:
        plan = load(request.plan)
        in_own_words(request, plan, "--plan", str(request.plan))
        require_known(request, plan, request.plan, observer)
        return FromPlan(request, plan, request.plan, observer)
    if request.resume is not None:
        return Interrupted(request, request.resume, observer)
    return None


def require_known(
    request: FixRequest, plan: SavedPlan, path: Path, observer: Observer
) -> None:
    """NotConfirmed unless the plan was made here, or somebody agrees to it. Calls nothing."""
    if not made_here(plan.digest):
        accepting = _again(request, plan, "--plan", str(path)).command()
        require_trust(str(path), plan, plan.steps, accepting, observer)


class FromPlan(Repair):
    """A repair by a saved plan, which is made again on what is stored now.

    If it cannot be made again, it is refused as stale before the first write.
    """

    def __init__(
        self, request: FixRequest, plan: SavedPlan, path: Path, observer: Observer, name: str = ""
    ) -> None:
        """path: the plan's file."""
        super().__init__(request, plan.stream, observer, name)
        self._plan, self._path = plan, path

    def plan(self) -> None:
        """Reads and judges again, and shows the plan.

        Raises Refused for a plan of another stream, StalePlan for a checkpoint that is empty now,
        and what `in_own_words` raises, before any call.
        """
        request, path, observer = self._request, self._path, self._observer
        plan = in_own_words(request, self._plan, "--plan", str(path))
        locator = parse(plan.locator)
        observer.phase(f"{path} names {plan.locator} on stream {plan.stream}")
        request = dataclasses.replace(request, account=remembered(request.account, plan, str(path)))
        self.words = (locator.text, "--stream", plan.stream, *words(request.account))
        saved = of_saved(request.account, request.config, locator, plan.stream, observer)
        Journals(saved.account).check_before_write(request.journal or saved.journal)
        try:
            report = survey(saved.ports, plan.stream, locator, plan.options, plan.probe)
        except EmptyCheckpoint as error:
            way = " ".join(command("inspect", *self.words))
            raise StalePlan(f"the plan is stale: {error.what}", way) from None
        created = saved.created if plan.options.created is None else plan.options.created
        right_incarnation(report, created)
        plan = replace(plan, options=replace(plan.options, created=created))
        report = verified_report(report, saved.ports.kinesis)
        report = with_unfinished(report, saved.journal, self.words)
        planned = None
        if isinstance(report.decision, Plan):
            again = _again(request, plan, "--plan", str(path))
            planned = _made_before(request, report, report.decision, plan, again, self.words)
            unambiguous(report, created)
            require_verified(report, created)
        with naming_next_step(new_plan(self._plan, saved.account), self.words):
            require_same(plan, report.snapshot.lineage, report.snapshot.store)
            planned_again(plan, report, live=True)  # nobody is asked about another plan
        if planned is not None:
            self._tell(replace(planned, as_saved=made_here(self._plan.digest)))
        reached = dataclasses.replace(
            request, account=saved.account, journal=request.journal or saved.journal,
            watch=request.watch or saved.watch,
        )
        self.ready = Ready(reached, saved.ports, locator, plan, report)

    def consent(self, confirm: Confirm) -> None:
        """Raises NotConfirmed unless the plan may be written."""
        if self.planned is not None:
            require_consent(self.planned, confirm)


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
    if options.line is not None and request.plan is not None and request.verb == "fix":
        raise NotConfirmed(
            f"the positions of {source[-1]} come from a sink: rebuild asks for that, and fix does "
            "not", again.command(),
        )
    if options.bootstrap and not request.bootstrap:
        raise NotConfirmed(
            f"{source[-1]} makes the first positions of an application that is new, which this "
            "command does not ask for", again.command("--bootstrap"),
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
    own = words(request, ("--bootstrap", "--recreated", "--created", "--accept", *REACHED))
    return Again(verb, (*source, *own), ways_to_write(request, plan.locator))


class Interrupted(Repair):
    """A repair that was begun: what its journal has and the store has not is written."""

    def __init__(self, request: FixRequest, name: str, observer: Observer) -> None:
        """name: of the journal, or its path or place on S3."""
        super().__init__(request, "", observer)
        self._name, self._again = name, ""
        self._opened: tuple[Journal, Records] | None = None

    def plan(self) -> None:
        """Opens the journal, reads and judges, and shows what is left, if anything is."""
        request, observer = self._request, self._observer
        journal, records = Journal.open(Journals(request.account).named(self._name))
        self._opened = self.held.enter_context(journal), records
        plan = plan_of(records)
        account = remembered(request.account, plan, str(journal.path))
        request = dataclasses.replace(request, account=account)
        locator = parse(plan.locator)
        observer.phase(f"{journal.path} names {plan.locator} on stream {plan.stream}")
        self.words = (locator.text, "--stream", plan.stream, *words(request.account))
        self._again = new_plan(plan.unvouched, request.account)
        self._require_unfinished(journal, records)
        again, digest = _again(request, plan, "--resume", self._name), plan.digest
        plan = in_own_words(request, plan, "--resume", self._name)
        if not made_here(digest, journal.path):
            left = [step for n, step in enumerate(records.fix.current)
                    if n not in records.fix.applied]  # fmt: skip
            accepting = again.command()
            require_trust(str(journal.path), plan, left, accepting, observer)
        saved = of_saved(request.account, request.config, locator, plan.stream, observer)
        request = dataclasses.replace(request, watch=request.watch or saved.watch)
        ports = saved.ports
        if plan.options.created is None:
            plan = replace(plan, options=replace(plan.options, created=saved.created))
        with naming_next_step(self._again, self.words):
            try:
                rest, decision = left_over(ports, plan, locator, journal, records, request.live)
            except (HalfDone, Refused):  # perhaps for what a newer fix wrote
                self._require_latest(records, ports.store.read(), locator)
                raise
            self._require_latest(records, rest.rows, locator)
            before = survey(ports, plan.stream, locator, plan.options, plan.probe)
            right_times(before, plan.options.created)
            if not (plan.options.bootstrap or plan.options.recreated or plan.options.line):
                unambiguous(before, plan.options.created)
            if decision is not None:
                shown = replace(plan, steps=tuple(rest.steps))
                self._tell(_made_before(request, before, decision, shown, again, self.words))
        self.ready = Ready(request, ports, locator, plan, before)

    def _require_unfinished(self, journal: Journal, records: Records) -> None:
        path, back = journal.path, records.header.undoing(journal.path)
        if records.undo is not None:
            if records.undo.outcome == "undone":
                raise UsageError(f"{path}: this fix is undone already", self._again)
            raise UsageError(f"{path}: its undo was begun", back)
        if records.fix.outcome == "verified":
            raise UsageError(
                f"{path}: this fix was finished and verified, there is nothing to go on with",
                f"{' '.join(command('inspect', *self.words))}   # or back: {back}",
            )

    def _require_latest(
        self, records: Records, rows: Iterable[Image], locator: Locator
    ) -> None:
        """Refused if a newer fix wrote some of the rows: it began from what this one left."""
        journals, keys = Journals(self._request.account), sorted(keys_of(records.header.steps))
        if later := journals.later(records, keys, rows, locator.spec.volatile_attributes):
            raise Refused(
                f"{records.path}: rows of this fix were written by the newer fix of journal "
                f"{later[0].name}, too; nothing was written",
                f"{journals.undoing(later[0])}   # to finish this one instead",
            )

    def consent(self, confirm: Confirm) -> None:
        """Raises NotConfirmed unless what is left, if anything is, may be written."""
        if self.planned is not None:
            with naming_next_step(self._again, self.words):
                require_consent(self.planned, confirm)

    def watch(self) -> None:
        """Raises ConsumerRunning and Refused unless rows may be written now."""
        with naming_next_step(self._again, self.words):
            super().watch()

    def write(self, observer: Observer) -> None:
        """Writes what is left, in the same journal, and verifies the whole."""
        assert self._opened is not None
        ready, (journal, records) = self._writable, self._opened
        ports, locator, live = ready.ports, ready.locator, ready.request.live
        with naming_next_step(self._again, self.words):
            observer.writing()
            rest, _ = left_over(ports, ready.plan, locator, journal, records, live)
            applied = resume(
                rest, ports.store, journal, interrupted=ports.interrupted,
                renewing=renewing(locator, live),
            )
        self._verify(journal, applied)
