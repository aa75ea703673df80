"""Consumers by their names in `reshardctl.toml`; the command line takes precedence over it."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.argv import words
from reshardctl.commands.connect import ports_of
from reshardctl.commands.observer import Observer
from reshardctl.commands.places import (
    account_of,
    require_agreeing,
    require_table,
    table_of,
    together,
)
from reshardctl.commands.requests import Account
from reshardctl.commands.target import WANTED, repair_options_of
from reshardctl.config.entries import Config, Consumer
from reshardctl.config.nearest import DEFAULT, distrusted, nearest
from reshardctl.config.reading import load
from reshardctl.consumers.locator import Locator, looks_like_one
from reshardctl.errors import UsageError, WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.times import instant, same_second
from reshardctl.snapshot import Overlaid, Stream

if TYPE_CHECKING:
    from reshardctl.commands.target import Selection, Target
    from reshardctl.commands.write_requests import FixRequest
    from reshardctl.snapshot import Ports


def config_of(selection: Selection) -> Config:
    """The configuration. UsageError if there is none, or if it is invalid."""
    path = selection.config or nearest()
    if path is None:
        raise UsageError(
            f"there is no {DEFAULT} here or in a folder above", "name the file with --config"
        )
    if selection.config is None:
        refuse_distrusted(path)
    return load(path, repair_options_of)


def refuse_distrusted(path: Path) -> None:
    """UsageError for a configuration that was found and that somebody else may have written."""
    if why := distrusted(path):
        raise UsageError(
            f"{path} is not used: {why}",
            f"read it, and name it if you trust it: --config {shlex.quote(str(path))}",
        )


def names(text: str, selection: Selection) -> Config | None:
    """The configuration in which a text is a name; `None` for a locator, or without one."""
    if looks_like_one(text) or (selection.config is None and nearest() is None):
        return None
    return config_of(selection)


def tell_file(file: str, selected: Path | None, observer: Observer) -> None:
    """Tells the observer which file is used, if it was found in a folder above.

    selected: the file that the command line names.
    """
    if selected is None and Path(file) != DEFAULT:
        observer.note(f"{file} is used")


def one(text: str, config: Config, selection: Selection, observer: Observer) -> Target:
    """The consumer of this name, or the only one of the stream of this name."""
    targets = several([text], config, selection, observer)
    if len(targets) > 1:
        known = ", ".join(target.entry.name for target in targets if target.entry)
        raise UsageError(
            f"{text} is a stream of {len(targets)} consumers in {config.file}",
            f"name one of them: {known}",
        )
    return targets[0]


def several(
    texts: Sequence[str], config: Config, selection: Selection, observer: Observer
) -> list[Target]:
    """The consumers that are named, by their own names or their streams'; all if none is named.

    Each comes once, in the order of the file. Raises UsageError.
    """
    if selection.stream is not None:
        raise UsageError(
            f"--stream {selection.stream}: {config.file} says which stream a consumer reads",
            "leave --stream out, or name the consumer by a locator",
        )
    for text in texts:
        if text not in config.consumers and text not in config.streams:
            known = [*config.consumers, *config.streams]
            raise UsageError(
                f"there is no {text!r} in {config.file}",
                did_you_mean(text, known, f"it has {', '.join(known) or 'none'}"),
            )
    entries = [
        target_of(consumer, config, selection, observer) for consumer in config.consumers.values()
        if not texts or consumer.name in texts or consumer.stream.name in texts
    ]
    if not entries:
        what = f"no consumer of {', '.join(texts)}" if texts else "no consumer"
        raise UsageError(
            f"there is {what} in {config.file}", "add one, as [consumers.NAME]"
        )
    return entries


def target_of(entry: Consumer, config: Config, selection: Selection, observer: Observer) -> Target:
    """A configured consumer as a target."""
    from reshardctl.commands.target import Target

    policy, accept = str(selection.policy or entry.policy), selection.accept or entry.accept or None
    repair_options = repair_options_of(policy, accept, selection.bootstrap, selection.recreated)
    file = [] if selection.config is None else ["--config", config.file]
    return Target(
        entry.stream.stream, entry.locator, repair_options,
        bool(entry.probe if selection.probe is None else selection.probe),
        (entry.name, *file, *words(selection, WANTED)),
        lambda: _ports(entry, selection.account, observer), entry=entry,
        suppressions=tuple(s for s in config.suppressions if s.consumer == entry.name),
    )


def told(request: FixRequest, entry: Consumer) -> FixRequest:
    """The same request, completed with the account, the journal and the watch from the file."""
    return dataclasses.replace(
        request, account=together(*_places(
            entry, request.account, entry.stream.stream, entry.locator
        )),
        journal=request.journal or folder(entry.journal),
        watch=request.watch or entry.watch or None,
    )


def folder(journal: str) -> str | None:
    """The directory of a file, with a slash, so that `--journal` accepts it while it is missing."""
    if not journal:
        return None
    return journal if journal.endswith(("/", ".jsonl")) else f"{journal}/"


class Reached(Struct, frozen=True):
    """How the stream and the store of a saved plan or a journal are reached.

    journal: where the configuration keeps its journals. watch: how long it says to look for signs
    of life. created: the creation time that it pins the stream to, in Unix seconds.
    """

    account: Account
    ports: Ports
    journal: str | None = None
    watch: str | None = None
    created: float | None = None


def of_saved(
    account: Account, file: Path | None, locator: Locator, stream: str, observer: Observer
) -> Reached:
    """How to reach the stream and the store of a saved plan or a journal.

    The configured consumer of this table and stream decides, if there is just one; otherwise the
    request. file: the configuration. stream: as the plan names it. A file that cannot be read does
    not stop an undo: the observer is told.
    """
    entry = _entry_of(file, locator, stream, observer)
    if entry is None:
        return Reached(account, ports_of(account, locator, observer, stream))
    places = _places(entry, account, stream, locator)
    ports = ports_of(places[0], locator, observer, stream, places[1])
    return Reached(
        together(*places), ports, folder(entry.journal), entry.watch or None, entry.stream.created
    )


def _entry_of(
    file: Path | None, locator: Locator, stream: str, observer: Observer
) -> Consumer | None:
    path = file or nearest()
    if path is None:
        return None
    try:
        if file is None:
            refuse_distrusted(path)
        config = load(path, repair_options_of)
    except UsageError as error:
        if file is not None:
            raise
        why = error.what.removeprefix(f"{path} is not used: ")
        observer.note(f"{path} is left out: {why}")
        return None
    entries = [
        entry for entry in config.consumers.values()
        if (entry.locator.medium, entry.locator.target) == (locator.medium, locator.target)
        and _named(entry.stream.stream) == _named(stream)
    ]
    if len(entries) != 1:
        return None
    tell_file(config.file, file, observer)
    return entries[0]


def _named(stream: str) -> str:
    """The name of a stream, given its name or ARN."""
    return stream.rpartition("/")[2]


def _places(
    entry: Consumer, overrides: Account, stream: str, locator: Locator
) -> tuple[Account, Account]:
    """How the stream and the store of a configured consumer are reached.

    UsageError for options that contradict an ARN, or are of a table that the consumer has not.
    """
    require_agreeing(overrides, stream, locator)
    require_table(overrides, locator)
    return account_of(entry.stream.reach, overrides), table_of(overrides, locator, entry.reach)


def _ports(entry: Consumer, overrides: Account, observer: Observer) -> Ports:
    stream, store = _places(entry, overrides, entry.stream.stream, entry.locator)
    ports = ports_of(stream, entry.locator, observer, entry.stream.stream, store)
    if entry.stream.created is None:
        return ports
    return replace(ports, kinesis=pinned(ports.kinesis, entry.stream.created, entry.stream.origin))


def pinned(kinesis: Stream, created: float, origin: str) -> Stream:
    """The stream, which must be the one created at a time (Unix seconds); calls nothing.

    origin: where that is configured. Its listing is WrongStream if another of its name exists now.
    """
    def lineage(stream: str) -> Lineage:
        listing = kinesis.lineage(stream)
        if same_second(listing.stream.created, created):
            return listing
        raise WrongStream(
            f"stream {listing.stream.name} was created at {instant(listing.stream.created)}; "
            f"{origin} pins the one of {instant(created)}",
            "if it was meant to be deleted and made again, change created = there "
            "(reshardctl rule RSH102)",
        )

    return Overlaid(kinesis, lineage)
