"""Undo as a plan of its own: steps, what the next start would then do, and the way there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from reshardctl import locator as locators
from reshardctl import savedplan
from reshardctl.apply import Applied, apply, belongs, half_done, resume
from reshardctl.cli.connect import ports_of
from reshardctl.cli.fixing import Asked, confirm, stopped
from reshardctl.cli.interrupt import finishing_the_step, treat_sigterm_as_ctrl_c
from reshardctl.cli.output import Output, again
from reshardctl.consumers import CONSUMERS
from reshardctl.errors import CannotTell, EmptyCheckpoint, HalfDone, ReshardError
from reshardctl.evidence import Snapshot
from reshardctl.exit import Exit
from reshardctl.journal import Journal, Records, read
from reshardctl.landing import Standing, standings
from reshardctl.locator import Locator
from reshardctl.model import Image, Step, after
from reshardctl.render.outcomes import Undoing
from reshardctl.repair import Ports
from reshardctl.report import Report, Wishes, make
from reshardctl.snapshot import take
from reshardctl.undo import Restore, undo_steps


def undo(asked: Asked, path: Path) -> Exit:
    """Take a journal's fix back, or show what that would do."""
    records = read(path)
    plan = savedplan.parsed(records.header.notes.get("saved", ""), str(path))
    place = locators.parse(plan.locator)
    out = asked.to(again(place, plan.stream, asked.account))
    ports = ports_of(asked.account, place)
    treat_sigterm_as_ctrl_c()
    belongs(records, ports.medium)
    if records.undo is not None and records.undo.outcome != "undone" and not asked.dry_run:
        return _go_on(asked, ports, path, place, out)
    images = ports.medium.read()
    steps = _steps(records, images, place)
    lineage = ports.kinesis.lineage(plan.stream)

    def judged(rows: list[Image]) -> Report | None:
        return _judged(Snapshot(place, lineage, tuple(rows), plan.store, ports.clock()))

    now = judged(images) or _empty(Snapshot(place, lineage, (), plan.store, ports.clock()))
    then = judged(after(images, steps))
    undoing = Undoing(now, then, tuple(steps), str(path))
    if asked.dry_run or not steps:
        code = Exit.FINDINGS if steps else Exit.OK
        out.undo(undoing, code)
        return code
    if not asked.yes:
        out.undo(undoing, Exit.FINDINGS)
        confirm()
    stopped(asked, ports, place)
    with finishing_the_step():
        applied = _apply(ports, path, steps, place)
        out.undo(replace(undoing, written=applied.written), Exit.OK)
    return Exit.OK


def _go_on(asked: Asked, ports: Ports, path: Path, place: Locator, out: Output) -> Exit:
    """Finish an undo that was interrupted: its steps were shown and asked for when it began."""
    stopped(asked, ports, place)
    journal, records = Journal.open(path)
    moving = CONSUMERS[place.consumer].moving
    with journal, finishing_the_step():
        applied = resume(
            journal, records, ports.medium, check=lambda _images, rest: rest,
            interrupted=ports.interrupted, moving=moving,
        )
        _read_back(ports, applied.steps, journal, moving)
        _show_done(ports, records, place, applied, path, out)
    return Exit.OK


def _show_done(
    ports: Ports, records: Records, place: Locator, applied: Applied, path: Path, out: Output
) -> None:
    plan = savedplan.parsed(records.header.notes.get("saved", ""), str(path))
    try:
        snapshot = take(ports.kinesis, ports.medium, plan.stream, place, ports.clock)
        then = _judged(snapshot)
    except ReshardError as error:
        what = f"the undo of {path} is complete, but could not be looked at: {error.what}"
        raise HalfDone(what, error.next or "reshardctl inspect", str(path)) from error
    done = Undoing(then or _empty(snapshot), then, applied.steps, str(path), applied.written)
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


def _steps(records: Records, images: list[Image], place: Locator) -> list[Step]:
    consumer = CONSUMERS[place.consumer]
    rule = Restore(consumer.moving, consumer.counters, consumer.owners)
    rows: dict[str, Image | None] = {image.key: image for image in images}
    return undo_steps(records, rows, rule, consumer.moving)


def _judged(snapshot: Snapshot) -> Report | None:
    """What the next start would do on these rows; `None` where no position is among them."""
    try:
        return make(snapshot, Wishes())
    except EmptyCheckpoint:
        return None


def _empty(snapshot: Snapshot) -> Report:
    """A report on a store without a position: only that can be said of it."""
    return make(snapshot, Wishes(bootstrap=True))


def _apply(ports: Ports, path: Path, steps: list[Step], place: Locator) -> Applied:
    journal, records = Journal.open(path)
    with journal:
        journal.begin_undo(steps)

        def check(images: list[Image]) -> list[Step]:
            return _steps(records, images, place)

        applied = apply(
            steps, ports.medium, journal, check=check, interrupted=ports.interrupted
        )
        _read_back(ports, applied.steps, journal, CONSUMERS[place.consumer].moving)
    return applied
