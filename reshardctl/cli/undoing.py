"""Undo as a plan of its own: steps, what the next start would then do, and the way there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reshardctl import locator as locators
from reshardctl import savedplan
from reshardctl.apply import Applied, apply, belongs, resume
from reshardctl.cli.connect import ports_of
from reshardctl.cli.fixing import Asked, confirm, stopped
from reshardctl.cli.interrupt import finishing_the_step, treat_sigterm_as_ctrl_c
from reshardctl.cli.output import Output, again
from reshardctl.consumers import CONSUMERS
from reshardctl.errors import EmptyCheckpoint
from reshardctl.evidence import Snapshot
from reshardctl.exit import Exit
from reshardctl.journal import Journal, Records, read
from reshardctl.locator import Locator
from reshardctl.model import Image, Step, after
from reshardctl.render.outcomes import Undoing
from reshardctl.repair import Ports
from reshardctl.report import Report, Wishes, make
from reshardctl.savedplan import SavedPlan
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
    now = _judged(ports, plan, place, images)
    then = _judged(ports, plan, place, after(images, steps))
    assert now is not None
    undoing = Undoing(now, then, tuple(steps), str(path))
    if asked.dry_run or not steps:
        code = Exit.FINDINGS if steps else Exit.OK
        out.undo(undoing, code)
        return code
    if not asked.yes:
        out.undo(undoing, Exit.FINDINGS)
        confirm()
    stopped(asked, ports, place)
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
        journal.undone()
    plan = savedplan.parsed(records.header.notes.get("saved", ""), str(path))
    now = _judged(ports, plan, place, ports.medium.read())
    assert now is not None
    out.undo(Undoing(now, now, applied.steps, str(path), applied.written), Exit.OK)
    return Exit.OK


def _steps(records: Records, images: list[Image], place: Locator) -> list[Step]:
    consumer = CONSUMERS[place.consumer]
    rule = Restore(consumer.moving, consumer.counters, consumer.owners)
    rows: dict[str, Image | None] = {image.key: image for image in images}
    return undo_steps(records, rows, rule, consumer.moving)


def _judged(
    ports: Ports, plan: SavedPlan, place: Locator, images: list[Image]
) -> Report | None:
    """What the next start would do on these rows; `None` where no position is among them."""
    lineage = ports.kinesis.lineage(plan.stream)
    snapshot = Snapshot(place, lineage, tuple(images), plan.store, ports.clock())
    try:
        return make(snapshot, Wishes())
    except EmptyCheckpoint:
        return None


def _apply(ports: Ports, path: Path, steps: list[Step], place: Locator) -> Applied:
    journal, records = Journal.open(path)
    with journal, finishing_the_step():
        journal.begin_undo(steps)

        def check(images: list[Image]) -> list[Step]:
            return _steps(records, images, place)

        applied = apply(
            steps, ports.medium, journal, check=check, interrupted=ports.interrupted
        )
        journal.undone()
    return applied
