"""`fix --to DIR`: repairs a copy of a checkpoint directory, and leaves the original as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

from msgspec.structs import replace

from reshardctl.commands.connect import ports_of
from reshardctl.commands.exclusions import require_compatible, set_in
from reshardctl.commands.observer import Observer
from reshardctl.commands.repair import require_writable
from reshardctl.commands.survey import survey
from reshardctl.commands.target import Target, asked, require_known
from reshardctl.commands.write import stopped
from reshardctl.commands.write_requests import FixRequest
from reshardctl.consumers.registry import consumer_of
from reshardctl.errors import ConsumerRunning, UsageError
from reshardctl.model.files import on_this_machine
from reshardctl.planning.plan import Plan


def into_copy(
    request: FixRequest, target: Target, to: Path, observer: Observer
) -> tuple[Target, bool]:
    """Judges the original, and copies it if there is something to repair.

    The copy, to be repaired, and whether it was made; else the original. That has to be stopped: a
    copy of a changing directory is inconsistent.
    """
    from reshardctl.stores.files.local import copied

    source = folder_of(request, target, to, dry_run=False)
    require_writable(request, target, dry_run=False)
    ports = target.ports()
    target = replace(target, opened=lambda: ports)
    report = survey(ports, target.stream, target.locator, target.repair_options, target.probe)
    require_known(report)
    if not isinstance(report.decision, Plan):
        observer.note(f"nothing is copied to {to}: there is no repair to make in it")
        return target, False
    stopped(request.patience, ports, target.locator, observer, assumed=request.assume_stopped)
    observer.phase(f"copying {source} to {to}")
    alive = consumer_of(target.locator).signs_of_life
    before = alive(ports.store.read())
    copied(source, to)
    if alive(ports.store.read()) != before:
        shutil.rmtree(to)
        raise ConsumerRunning(
            f"{source} moved while it was copied: the query runs; the copy is removed again",
            "stop the query, then copy",
        )
    locator = target.locator.elsewhere(str(to.resolve()), target.locator.options)
    argv = tuple(locator.text if word == target.locator.text else word for word in target.argv)
    copy = replace(
        target, locator=locator, argv=argv,
        opened=lambda: ports_of(request.account, locator, observer, target.stream),
    )
    observer.note(
        f"{source} stays as it is. Once {to} is mended, start the query with checkpointLocation="
        f"{to.resolve()}; to take it all back, delete that folder"
    )
    return copy, True


def folder_of(request: FixRequest, target: Target, to: Path, *, dry_run: bool) -> Path:
    """The original directory. UsageError for what cannot be copied."""
    locator = target.locator
    path = on_this_machine(locator.target)
    if locator.medium != "files" or path is None or target.offline:
        raise UsageError(
            "--to copies a checkpoint directory of this machine, and the consumer is none",
            "reshardctl fix spark:PATH --stream STREAM --to DIR",
        )
    if "log" in locator.options:
        raise UsageError(
            "--to copies files, and log= names a table that the copy would share",
            "repair in place, or give the query a table of its own first",
        )
    if target.entry is not None:
        raise UsageError("--to needs the locator itself, not a configured name", str(to))
    require_compatible(asked(request) | set_in({"--dry-run": dry_run}), "--to")
    return Path(path)
