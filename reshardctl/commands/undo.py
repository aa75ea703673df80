"""`undo`: restores what a fix overwrote, after showing what the next start would then do."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.argv import words
from reshardctl.commands.configured import of_saved
from reshardctl.commands.consent import naming_next_step, new_plan, require_trust
from reshardctl.commands.journals import Journals, kept_if_used, recording_refusal, typed
from reshardctl.commands.observer import SILENT, Observer
from reshardctl.commands.places import remembered
from reshardctl.commands.planned import made_here
from reshardctl.commands.requests import Account
from reshardctl.commands.undo_source import Source, UndoRequest, back_by_hand, source_of
from reshardctl.commands.write import stopped
from reshardctl.commands.write_requests import patience, refuse_optimized
from reshardctl.consumers.locator import Locator, parse
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import (
    INSPECT,
    REPLAN,
    CannotTell,
    EmptyCheckpoint,
    HalfDone,
    NotConfirmed,
    ReshardError,
    UndoRefused,
)
from reshardctl.execution.apply import (
    NAMED,
    Applied,
    Rest,
    apply,
    belongs,
    fresh_rows,
    half_done,
    rest_of,
    resume,
)
from reshardctl.execution.undo import (
    MOVED,
    NEITHER,
    Whole,
    require_restoring,
    staying,
    undo_steps,
    unreadable,
)
from reshardctl.execution.watch import require_signs
from reshardctl.exit import Exit
from reshardctl.journal import Journal, Records
from reshardctl.journal.listing import Entry
from reshardctl.model import Image, Step, after, keys_of
from reshardctl.model.phrases import by_reason, listed
from reshardctl.model.write_state import WriteState, write_states
from reshardctl.planning.restore import Restore
from reshardctl.report.report import RepairOptions, Report, make
from reshardctl.report.results import Undoing
from reshardctl.snapshot import Ports, take, verified_by_sample
from reshardctl.stores.base import Texts, recover


class UndoResult(Struct, frozen=True):
    """An undo, shown or done. words: the arguments that name the consumer to other commands."""

    undoing: Undoing
    words: tuple[str, ...]

    @property
    def exit(self) -> Exit:
        """FINDINGS if something could be restored and was not, else OK."""
        wanted = self.undoing.written is None and self.undoing.steps
        return Exit.FINDINGS if wanted else Exit.OK


ConfirmUndo = Callable[[UndoResult], bool]
"""Whether an undo may be written; it may raise NotConfirmed with words of its own instead."""


def always(_wanted: UndoResult) -> bool:
    """Consents to every undo: it costs nothing that the state before the fix did not."""
    return True


def undo(
    request: UndoRequest, confirm: ConfirmUndo = always, observer: Observer = SILENT
) -> UndoResult:
    """Undoes a fix, as far as the consumer has not saved since, or shows what that would do.

    confirm: called with the undo before anything is written, also with the rest of one that was
    begun before.
    Raises UsageError for a request that cannot be met; UndoRefused, NotConfirmed and
    ConsumerRunning, when nothing was written; HalfDone, naming the journal.
    """
    refuse_optimized(request.dry_run)
    patience(request.patience, request.dry_run)
    Journals(request.account).check(request.journal)
    source = source_of(request, observer)
    plan = source.plan
    request = dataclasses.replace(request, account=remembered(request.account, plan, source.name))
    locator = parse(plan.locator)
    observer.phase(f"{source.name} names {plan.locator} on stream {plan.stream}")
    if not made_here(plan.digest, None if source.log is None else source.log.where):
        back = source.steps_back(Restore.of(locator.spec))
        require_trust(source.name, plan, back, request.accepting(locator), observer)
    argv = (locator.text, "--stream", plan.stream, *words(request.account))
    saved = of_saved(request.account, request.config, locator, plan.stream, observer)
    if source.log is None and not request.dry_run:
        Journals(saved.account).check_before_write(request.journal or saved.journal)
    request = dataclasses.replace(
        request, account=saved.account, journal=request.journal or saved.journal,
        watch=request.watch or saved.watch,
    )
    with (
        naming_next_step(new_plan(plan.unvouched, request.account), argv),
        _naming_way_back(source, saved.ports, locator, request.account),
    ):
        undoing = _undo(request, saved.ports, source, locator, lambda wanted: _confirmed(
            request, confirm, UndoResult(replace(wanted, dry_run=False), argv)
        ), observer)
    return UndoResult(undoing, argv)


@contextmanager
def _naming_way_back(
    source: Source, ports: Ports, locator: Locator, account: Account
) -> Iterator[None]:
    """A refusal of a finished fix's undo, because the consumer has gone on, ends with a way back.

    A fix that stopped half-way is made again instead.
    """
    try:
        yield
    except UndoRefused as error:
        records = source.records(ports)
        finished = source.log is not None and records.fix.outcome == "verified"
        if finished and error.next in (REPLAN, INSPECT):
            error.next = back_by_hand(source, locator, records, account)
        raise


def _confirmed(request: UndoRequest, confirm: ConfirmUndo, wanted: UndoResult) -> None:
    if not request.assume_stopped:
        require_signs(wanted.undoing.now.snapshot.locator)
    if not confirm(wanted):
        raise NotConfirmed("not confirmed; nothing was written")


def _undo(
    request: UndoRequest, ports: Ports, source: Source, locator: Locator,
    consent: Callable[[Undoing], None], observer: Observer,
) -> Undoing:
    records = source.records(ports)
    spoiled = unreadable(ports.store, records, source.name, wanted=request.whole_file)
    if isinstance(ports.store, Texts) and spoiled:
        whole = Whole.of(ports.store, records, spoiled)
        return _whole(request, ports, source, locator, whole, consent, observer)
    belongs(records, ports.store, locator.spec.identity_rows)
    if records.undo is not None and records.undo.outcome != "undone":
        if request.dry_run:
            return _left(request, ports, source, locator, records, observer)[1]
        return _go_on(request, ports, source, locator, consent, observer)
    if not request.dry_run:
        recover(ports.store)
    images = ports.store.read()
    undoing = _planned(request.account, ports, source, locator, images, observer)
    if request.dry_run or not undoing.steps:
        return undoing
    consent(undoing)
    why = stopped(request.patience, ports, locator, observer, assumed=request.assume_stopped)
    with _journal(request, ports, source, why) as journal:
        observer.writing()
        applied = _apply(ports, journal, source, list(undoing.steps), locator)
        return replace(undoing, written=applied.written, journal=str(journal.path))


def _planned(
    account: Account, ports: Ports, source: Source, locator: Locator, images: list[Image],
    observer: Observer,
) -> Undoing:
    """The undo as it would be on the present rows."""
    steps, kept = _steps(account, ports, source, images, locator)
    return replace(_shown(ports, source, locator, images, steps, observer), kept=tuple(kept))


def _shown(
    ports: Ports, source: Source, locator: Locator, images: list[Image], steps: Sequence[Step],
    observer: Observer,
) -> Undoing:
    """What the next start does now, and after these steps. Tells of a stream made again since."""
    plan = source.plan
    lineage = ports.kinesis.lineage(plan.stream)
    if steps and lineage.stream.created != plan.created:
        observer.note(
            "the stream was deleted and made again since the fix: what is put back are positions "
            "of the earlier stream"
        )

    seen = Snapshot(locator, lineage, tuple(images), plan.store, ports.clock())
    seen = verified_by_sample(seen, ports.kinesis)
    restored = replace(seen, images=tuple(after(images, steps)))
    now = _judged(seen) or _empty(replace(seen, images=()))
    then = _judged(verified_by_sample(restored, ports.kinesis))
    named = source.name if source.log is None else typed(source.log.where)
    return Undoing(
        now, then, tuple(steps), source.name, of_plan=source.log is None, typed=named
    )


def _whole(
    request: UndoRequest, ports: Ports, source: Source, locator: Locator, whole: Whole,
    consent: Callable[[Undoing], None], observer: Observer,
) -> Undoing:
    """Restores whole texts: rows that cannot be read are assumed to be as the fix left them."""
    assert source.log is not None
    known = source.records(ports)
    as_fixed = replace(source, read_records=replace(known, undo=None))
    undoing = _planned(request.account, ports, as_fixed, locator, whole.left, observer)
    observer.note(whole.words)
    if request.dry_run:
        return undoing
    consent(undoing)
    stopped(request.patience, ports, locator, observer, assumed=request.assume_stopped)
    journal, records = Journal.open(source.log)
    with journal:
        observer.writing()
        whole.put_back(journal, records, undoing.steps)
        _read_back(ports, undoing.steps, journal, locator.spec.volatile_attributes)
    return replace(undoing, written=len(undoing.steps), journal=str(journal.path))


@contextmanager
def _journal(
    request: UndoRequest, ports: Ports, source: Source, why: str
) -> Iterator[Journal]:
    """The fix's own journal, or if that is lost, a new one about its plan."""
    if source.log is not None:
        journal, _ = Journal.open(source.log)
        with journal, recording_refusal(journal):
            yield journal
        return
    header = source.header(ports, why)
    log = Journals(request.account).new(request.journal, header)
    with kept_if_used(log, header) as journal:
        yield journal


def _go_on(
    request: UndoRequest, ports: Ports, source: Source, locator: Locator,
    consent: Callable[[Undoing], None], observer: Observer,
) -> Undoing:
    """Finishes an interrupted undo: what is left is shown and asked about as a new one is."""
    assert source.log is not None
    journal, records = Journal.open(source.log)
    with journal:
        rest, undoing = _left(request, ports, source, locator, records, observer)
        if rest.todo:
            consent(undoing)
            stopped(request.patience, ports, locator, observer, assumed=request.assume_stopped)
            rest = _rest(ports, locator, records)
        observer.writing()
        with naming_next_step(_again(source)):
            applied = resume(rest, ports.store, journal, interrupted=ports.interrupted)
            volatile_attributes = Restore.of(locator.spec).volatile_attributes
            _read_back(ports, applied.steps, journal, volatile_attributes)
            return _done(ports, source, locator, undoing, applied)


def _left(
    request: UndoRequest, ports: Ports, source: Source, locator: Locator, records: Records,
    observer: Observer,
) -> tuple[Rest, Undoing]:
    """What is left of an undo that was begun, and the same as it is shown."""
    require_restoring(records, Restore.of(locator.spec))
    rest = _rest(ports, locator, records, only_shown=request.dry_run)
    _require_latest(request.account, records, rest.steps, rest.rows, locator)
    return rest, _shown(ports, source, locator, list(rest.rows), rest.steps, observer)


def _rest(
    ports: Ports, locator: Locator, records: Records, *, only_shown: bool = False
) -> Rest:
    spec = locator.spec
    return rest_of(
        records, ports.store, volatile_attributes=Restore.of(spec).volatile_attributes,
        identity_rows=spec.identity_rows, only_shown=only_shown,
    )


def _again(source: Source) -> str:
    """The command that looks at the same undo again."""
    return f"reshardctl undo {shlex.quote(source.name)} --dry-run"


def _done(
    ports: Ports, source: Source, locator: Locator, undoing: Undoing, applied: Applied
) -> Undoing:
    """The undo as it was shown, done, with what is there now."""
    path = source.name
    try:
        then = _judged(take(
            ports.kinesis, ports.store, source.plan.stream, locator, ports.clock
        ))
    except ReshardError as error:
        what = f"the undo of {path} is complete, but could not be looked at: {error.what}"
        raise HalfDone(what, error.next or INSPECT, path) from error
    return replace(undoing, after=then, written=applied.written)


def _read_back(
    ports: Ports, steps: Sequence[Step], journal: Journal, volatile_attributes: Collection[str]
) -> None:
    """Checks that every row is as it was restored, and records the end. HalfDone if not."""
    try:
        rows: dict[str, Image | None] = {image.key: image for image in ports.store.read()}
        keys = {write.key for step in steps for write in step.writes}
        stands = write_states(steps, {key: rows.get(key) for key in keys}, volatile_attributes)
        if any(state is not WriteState.APPLIED for row in stands for state in row):
            raise CannotTell(
                "a row is not as it was put back: someone else wrote", INSPECT
            )
        journal.undone()
    except ReshardError as error:
        what = f"the rows are put back, but not verified: {error.what}"
        raise half_done(journal, what) from error


def _steps(
    account: Account, ports: Ports, source: Source, images: list[Image], locator: Locator
) -> tuple[list[Step], list[str]]:
    """What is restored, and what stays, in words."""
    records, rows = source.records(ports), _rows(images)
    rule = Restore.of(locator.spec)
    try:
        steps = undo_steps(records, rows, rule, rule.volatile_attributes, _words(source))
    except UndoRefused as error:
        later = Journals(account).later(records, error.rows, images, rule.volatile_attributes)
        if not later:
            raise
        raise _named(error, later[0], Journals(account)) from None
    _require_latest(account, records, steps, images, locator)
    _refuse_spent(images, steps, locator, source.plan.stood)
    stays = staying(records, rows, rule, rule.volatile_attributes)
    alike: dict[tuple[str, ...], list[str]] = {}
    for key, names in sorted(stays.items()):
        alike.setdefault(tuple(names), []).append(key)
    return steps, [
        f"{', '.join(names)} of {listed(keys, NAMED)}: {_why(names, rule)}."
        for names, keys in alike.items()
    ]


def _require_latest(
    account: Account, records: Records, steps: Sequence[Step], images: Sequence[Image],
    locator: Locator,
) -> None:
    """UndoRefused if a newer fix wrote these rows, too: then they are its rows, even if equal."""
    keys = tuple(sorted(keys_of(steps)))
    journals = Journals(account)
    if later := journals.later(records, keys, images, locator.spec.volatile_attributes):
        what = "rows of this fix were written again since; nothing was undone"
        raise _named(UndoRefused(what, "", keys), later[0], journals)


def _refuse_spent(
    images: Sequence[Image], steps: Sequence[Step], locator: Locator, stood: Collection[str]
) -> None:
    """UndoRefused if the consumer has read past what would be undone.

    stood: rows that were there before the fix.
    """
    keys = {write.key for step in steps for write in step.writes}
    if spent := consumer_of(locator).superseded_rows(images, keys, stood):
        raise UndoRefused(
            "the consumer has used what the fix wrote; nothing was undone: "
            f"{by_reason(spent, NAMED)}",
            INSPECT, tuple(sorted(spent)),
        )


def _why(names: Collection[str], rule: Restore) -> str:
    """Why attributes that a fix wrote are not restored."""
    if rule.monotonic_counters & set(names):
        return "a lease counter never goes back"
    if rule.owner_attributes & set(names):
        return "no worker is given a row again"
    return "they moved by themselves since"


def _words(source: Source) -> str:
    return NEITHER if source.log is None else MOVED


def _named(error: UndoRefused, last: Entry, journals: Journals) -> UndoRefused:
    """The refusal with the later fix that changed the rows, which has to be undone first."""
    return UndoRefused(
        f"{error.what}. The newer fix of journal {last.name} wrote there too",
        f"{journals.undoing(last)}   # then this one again",
        error.rows,
    )


def _rows(images: Sequence[Image]) -> Mapping[str, Image | None]:
    return {image.key: image for image in images}


def _judged(snapshot: Snapshot) -> Report | None:
    """What the next start would do on these rows; `None` if they hold no position."""
    try:
        return make(snapshot, RepairOptions())
    except EmptyCheckpoint:
        return None


def _empty(snapshot: Snapshot) -> Report:
    """A report on a store without a position."""
    return make(snapshot, RepairOptions(bootstrap=True))


def _apply(
    ports: Ports, journal: Journal, source: Source, steps: list[Step], locator: Locator
) -> Applied:
    rule = Restore.of(locator.spec)
    records = source.records(ports)
    journal.begin_undo(steps)
    images = fresh_rows(ports.store)
    belongs(records, ports.store, locator.spec.identity_rows)
    fresh = undo_steps(records, _rows(images), rule, rule.volatile_attributes, _words(source))
    _refuse_spent(images, fresh, locator, source.plan.stood)
    with naming_next_step(_again(source)):
        applied = apply(steps, fresh, ports.store, journal, interrupted=ports.interrupted)
    _read_back(ports, applied.steps, journal, rule.volatile_attributes)
    return applied
