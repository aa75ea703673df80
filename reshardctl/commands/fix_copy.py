"""`fix --to DIR`: repair a copy of a checkpoint directory, and leave the original as it is."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from reshardctl.commands.connect import ports_of
from reshardctl.commands.fix import from_store, stopped
from reshardctl.commands.fix_request import Asked
from reshardctl.commands.target import Target
from reshardctl.console.progress import note, phase
from reshardctl.consumers.registry import consumer_of
from reshardctl.errors import ConsumerRunning, UsageError
from reshardctl.execution.repair import survey
from reshardctl.exit import Exit
from reshardctl.planning.plan import Plan


def into_copy(asked: Asked, target: Target, to: Path) -> Exit:
    """Look at the original, copy it where there is something to mend, and mend the copy.

    Whether the original is stopped is asked of the original: a copy of a moving directory is none.
    """
    from reshardctl.stores.files.copying import copied

    source = _folder(asked, target, to)
    ports = target.ports()
    target = replace(target, opened=lambda: ports)
    report = survey(ports, target.stream, target.place, target.wishes, target.probe)
    if not isinstance(report.decision, Plan):
        note(f"nothing is copied to {to}: there is no repair to make in it")
        return from_store(replace(asked, dry_run=True), target)
    stopped(asked, ports, target.place)
    phase(f"copying {source} to {to}")
    alive = consumer_of(target.place).signs_of_life
    before = alive(ports.medium.read())
    copied(source, to)
    if alive(ports.medium.read()) != before:
        shutil.rmtree(to)
        raise ConsumerRunning(
            f"{source} moved while it was copied: the query runs; the copy is removed again",
            "stop the query, then copy",
        )
    place = target.place.elsewhere(str(to.resolve()), target.place.options)
    words = tuple(place.text if word == target.place.text else word for word in target.words)
    copy = replace(
        target, place=place, words=words, opened=lambda: ports_of(asked.account, place)
    )
    note(
        f"{source} stays as it is. Once {to} is mended, start the query with checkpointLocation="
        f"{to.resolve()}; to take it all back, delete that folder"
    )
    return from_store(replace(asked, assume_stopped=True), copy)


def _folder(asked: Asked, target: Target, to: Path) -> Path:
    """The original. UsageError for what cannot be copied."""
    place = target.place
    path = place.target.removeprefix("file://").removeprefix("file:")
    if place.medium != "files" or "://" in path or target.offline:
        raise UsageError(
            "--to copies a checkpoint directory of this machine, and the consumer is none",
            "reshardctl fix spark:PATH --stream STREAM --to DIR",
        )
    if "log" in place.options:
        raise UsageError(
            "--to copies files, and log= names a table that the copy would share",
            "repair in place, or give the query a table of its own first",
        )
    if target.entry is not None:
        raise UsageError("--to needs the locator itself, not a configured name", str(to))
    if asked.dry_run or asked.live or asked.out is not None:
        raise UsageError("--to excludes --dry-run, --out and --live", "leave one of them out")
    return Path(path)
