"""Undo as a plan of its own: steps, what the next start would then do, and the way there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from reshardctl.commands.consent import confirm
from reshardctl.commands.fix import stopped
from reshardctl.commands.fix_request import Asked
from reshardctl.commands.journals import Journals, kept_if_used
from reshardctl.commands.suggested_commands import again
from reshardctl.commands.targets.configured import of_saved
from reshardctl.commands.undo_source import Source, source_of
from reshardctl.console.interrupt import finishing_the_step, treat_sigterm_as_ctrl_c
from reshardctl.console.output import Output
from reshardctl.console.progress import note
from reshardctl.consumers import locator as locators
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import Report, Wishes, make
from reshardctl.errors import (
    CannotTell,
    EmptyCheckpoint,
    HalfDone,
    ReshardError,
    UndoRefused,
    UsageError,
)
from reshardctl.execution.apply import Applied, apply, belongs, half_done, resume
from reshardctl.execution.repair import Ports
from reshardctl.execution.undo import MOVED, NEITHER, Restore, staying, undo_steps
from reshardctl.execution.whole_file import Whole, unreadable
from reshardctl.exit import Exit
from reshardctl.journal import Journal
from reshardctl.journal.shelf import Entry
from reshardctl.model import Image, Step, after
from reshardctl.model.write_state import Standing, standings
from reshardctl.render.outcomes import Undoing
from reshardctl.snapshot import take
from reshardctl.stores.base import Texts, recover


def show_journals(asked: Asked, place: str | None, *, wanted: bool) -> Exit:
    """List the journals. Without `wanted` an undo named none: that is a usage error besides."""
    listing = Journals(asked.account).listing(place)
    out = asked.to(asked.account.words())
    out.journals(listing, Exit.OK if wanted else Exit.USAGE)
    if not wanted:
        what = "one of these" if listing.entries else f"{listing.place} has none"
        raise UsageError(
            "no journal is named; nothing was undone", f"reshardctl undo JOURNAL   # {what}"
        )
    return Exit.OK


def undo(asked: Asked, name: str, *, whole_file: bool = False) -> Exit:
    """Take a fix back, or show what that would do. name: its journal, or its plan's file.

    whole_file: put back a whole text that cannot be read any more.
    """
    source = source_of(asked, name)
    place = locators.parse(source.plan.locator)
    out = asked.to(again(place, source.plan.stream, asked.account))
    asked, ports = of_saved(asked, place, source.plan.stream)
    treat_sigterm_as_ctrl_c()
    records = source.records(ports)
    spoiled = unreadable(ports.medium, records, source.name, wanted=whole_file)
    if isinstance(ports.medium, Texts) and spoiled:
        return _whole(asked, ports, source, place, out, Whole.of(ports.medium, records, spoiled))
    belongs(records, ports.medium, place.spec.identity_rows)
    if records.undo is not None and records.undo.outcome != "undone" and not asked.dry_run:
        return _go_on(asked, ports, source, place, out)
    if not asked.dry_run:
        recover(ports.medium)
    images = ports.medium.read()
    undoing = _planned(asked, ports, source, place, images)
    if asked.dry_run or not undoing.steps:
        code = Exit.FINDINGS if undoing.steps else Exit.OK
        out.undo(undoing, code)
        return code
    if not asked.yes:
        if not asked.quiet:
            out.undo(undoing, Exit.FINDINGS)
        confirm(shown=not asked.quiet)
    watched = stopped(asked, ports, place)
    with finishing_the_step(), _journal(asked, ports, source, watched) as journal:
        applied = _apply(ports, journal, source, list(undoing.steps), place)
        done = replace(undoing, written=applied.written, journal=str(journal.path))
        out.undo(done, Exit.OK)
    return Exit.OK


def _planned(
    asked: Asked, ports: Ports, source: Source, place: Locator, images: list[Image]
) -> Undoing:
    """The undo as it would be on the rows as they are."""
    steps, kept = _steps(asked, ports, source, images, place)
    plan = source.plan
    lineage = ports.kinesis.lineage(plan.stream)

    def seen(rows: list[Image]) -> Snapshot:
        return Snapshot(place, lineage, tuple(rows), plan.store, ports.clock())

    now = _judged(seen(images)) or _empty(seen([]))
    then = _judged(seen(after(images, steps)))
    return Undoing(
        now, then, tuple(steps), source.name, kept=tuple(kept), of_plan=source.log is None
    )


def _whole(
    asked: Asked, ports: Ports, source: Source, place: Locator, out: Output, whole: Whole
) -> Exit:
    """Put whole texts back: rows that cannot be read are taken to be as the fix left them."""
    assert source.log is not None
    known = source.records(ports)
    as_fixed = replace(source, read_records=replace(known, undo=None))
    undoing = _planned(asked, ports, as_fixed, place, whole.left)
    note(whole.words)
    if asked.dry_run:
        out.undo(undoing, Exit.FINDINGS)
        return Exit.FINDINGS
    if not asked.yes:
        if not asked.quiet:
            out.undo(undoing, Exit.FINDINGS)
        confirm(shown=not asked.quiet)
    stopped(asked, ports, place)
    journal, records = Journal.open(source.log)
    with journal, finishing_the_step():
        whole.put_back(journal, records, undoing.steps)
        _read_back(ports, undoing.steps, journal, place.spec.moving)
    out.undo(replace(undoing, written=len(undoing.steps), journal=str(journal.path)), Exit.OK)
    return Exit.OK


@contextmanager
def _journal(
    asked: Asked, ports: Ports, source: Source, watched: str
) -> Iterator[Journal]:
    """The fix's own journal, or where that is lost, a new one about its plan."""
    if source.log is not None:
        journal, _ = Journal.open(source.log)
        with journal:
            yield journal
        return
    header = source.header(ports, watched)
    log = Journals(asked.account).new(asked.journal, header)
    with kept_if_used(log, header) as journal:
        yield journal


def _go_on(asked: Asked, ports: Ports, source: Source, place: Locator, out: Output) -> Exit:
    """Finish an undo that was interrupted: its steps were shown and asked for when it began."""
    assert source.log is not None
    stopped(asked, ports, place)
    journal, records = Journal.open(source.log)
    moving = place.spec.moving
    with journal, finishing_the_step():
        applied = resume(
            journal, records, ports.medium, check=lambda _images, rest: rest,
            interrupted=ports.interrupted, moving=moving,
            identity_rows=place.spec.identity_rows,
        )
        _read_back(ports, applied.steps, journal, moving)
        _show_done(ports, source, place, applied, out)
    return Exit.OK


def _show_done(
    ports: Ports, source: Source, place: Locator, applied: Applied, out: Output
) -> None:
    path = source.name
    try:
        snapshot = take(ports.kinesis, ports.medium, source.plan.stream, place, ports.clock)
        then = _judged(snapshot)
    except ReshardError as error:
        what = f"the undo of {path} is complete, but could not be looked at: {error.what}"
        raise HalfDone(what, error.next or "look again with reshardctl inspect", path) from error
    done = Undoing(then or _empty(snapshot), then, applied.steps, path, applied.written)
    out.undo(done, Exit.OK)


def _read_back(
    ports: Ports, steps: Sequence[Step], journal: Journal, moving: Collection[str]
) -> None:
    """Look whether every row is as it was put back, and record the end. HalfDone if not."""
    try:
        rows: dict[str, Image | None] = {image.key: image for image in ports.medium.read()}
        keys = {write.key for step in steps for write in step.writes}
        stands = standings(steps, {key: rows.get(key) for key in keys}, moving)
        if any(one is not Standing.LANDED for row in stands for one in row):
            raise CannotTell("a row is not as it was put back: someone else wrote")
        journal.undone()
    except ReshardError as error:
        raise half_done(journal, f"everything was put back, but: {error.what}") from error


def _steps(
    asked: Asked, ports: Ports, source: Source, images: list[Image], place: Locator
) -> tuple[list[Step], list[str]]:
    """What is put back, and what stays, in words."""
    records, rows = source.records(ports), _rows(images)
    rule, moving = _rule(place)
    try:
        steps = undo_steps(records, rows, rule, moving, _words(source))
    except UndoRefused as error:
        later = Journals(asked.account).later(records, error.rows)
        if not later:
            raise
        raise _named(error, later[0], Journals(asked.account).word_for(later[0])) from None
    _refuse_spent(images, steps, place)
    stays = staying(records, rows, rule, moving)
    return steps, [
        f"{', '.join(names)} of {key}: {_why(names, rule)}." for key, names in sorted(stays.items())
    ]


def _refuse_spent(images: Sequence[Image], steps: Sequence[Step], place: Locator) -> None:
    """UndoRefused where the consumer has gone past what would be taken back."""
    keys = {write.key for step in steps for write in step.writes}
    if spent := consumer_of(place).spent(images, keys):
        named = "; ".join(f"{key}: {why}" for key, why in sorted(spent.items()))
        raise UndoRefused(
            f"the consumer has used what the fix wrote; nothing was undone: {named}",
            "see the state as it is now with reshardctl inspect", tuple(sorted(spent)),
        )


def _why(names: Collection[str], rule: Restore) -> str:
    """Why attributes that a fix wrote are not given back."""
    if rule.counters & set(names):
        return "a lease counter never goes back"
    if rule.owners & set(names):
        return "no worker is given a row again"
    return "they moved by themselves since"


def _words(source: Source) -> str:
    return NEITHER if source.log is None else MOVED


def _named(error: UndoRefused, last: Entry, word: str) -> UndoRefused:
    """The refusal with the younger fix that moved the rows; that one goes back first."""
    return UndoRefused(
        f"{error.what}. The younger fix of journal {last.name} wrote there too",
        f"reshardctl undo {word}   # then this one again",
        error.rows,
    )


def _rule(place: Locator) -> tuple[Restore, frozenset[str]]:
    spec = place.spec
    return Restore(spec.moving, spec.counters, spec.owners), spec.moving


def _rows(images: Sequence[Image]) -> Mapping[str, Image | None]:
    return {image.key: image for image in images}


def _judged(snapshot: Snapshot) -> Report | None:
    """What the next start would do on these rows; `None` where no position is among them."""
    try:
        return make(snapshot, Wishes())
    except EmptyCheckpoint:
        return None


def _empty(snapshot: Snapshot) -> Report:
    """A report on a store without a position: only that can be said of it."""
    return make(snapshot, Wishes(bootstrap=True))


def _apply(
    ports: Ports, journal: Journal, source: Source, steps: list[Step], place: Locator
) -> Applied:
    rule, moving = _rule(place)
    records = source.records(ports)
    journal.begin_undo(steps)

    def check(images: list[Image]) -> list[Step]:
        back = undo_steps(records, _rows(images), rule, moving, _words(source))
        _refuse_spent(images, back, place)
        return back

    applied = apply(steps, ports.medium, journal, check=check, interrupted=ports.interrupted)
    _read_back(ports, applied.steps, journal, moving)
    return applied
