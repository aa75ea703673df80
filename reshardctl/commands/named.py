"""Consumers by locator, by name in the configuration, in a snapshot, or in files.

With `snapshot:FILE` in place of a consumer, or files of its stream and positions beside it,
everything is judged as of the time that was taken.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reshardctl.codec.argv import given, without, words
from reshardctl.codec.strict import or_another_kind
from reshardctl.commands import configured
from reshardctl.commands.connect import place_of, ports_of
from reshardctl.commands.observer import Observer
from reshardctl.commands.target import (
    WANTED,
    FilesSelection,
    Selection,
    Target,
    repair_options_of,
)
from reshardctl.config.entries import Config
from reshardctl.config.nearest import DEFAULT, nearest
from reshardctl.consumers.locator import looks_like_one, options
from reshardctl.errors import UsageError, command_line
from reshardctl.planning.policy import LOSSLESS
from reshardctl.stores.given_file import content

if TYPE_CHECKING:
    from reshardctl.consumers.locator import Locator
    from reshardctl.diagnosis.evidence import Snapshot
    from reshardctl.lineage import Lineage
    from reshardctl.snapshot import Ports


SCHEME = "snapshot:"
EXAMPLE = "snapshot:orders.snapshot?consumer=my-application&initial=TRIM_HORIZON"


def is_snapshot(text: str) -> bool:
    """Whether the text names a snapshot."""
    return text.startswith(SCHEME)


def targets_in_snapshot(text: str, selection: Selection) -> list[Target]:
    """Every consumer in the file, or the one that `consumer=` names.

    Other options describe the application and override those kept in the file. Raises UsageError.
    """
    path, options = _parts(text)
    _nothing_of_aws(text, selection)
    kept, redacted = _named(path, options.pop("consumer", None))
    several = len(kept) > 1
    targets = [
        _target(_joined(text, saved.locator.target) if several else text, saved, options, selection)
        for saved in kept
    ]
    return [_unnamed(target) for target in targets] if redacted else targets


def _unnamed(target: Target) -> Target:
    """The target of a redacted snapshot: no store has its names."""
    return replace(target, repair_options=replace(target.repair_options, redacted=True))


def stream_alone(text: str, selection: Selection) -> tuple[Lineage, float] | None:
    """The lineage and its time of a snapshot without consumers; `None` for anything else."""
    from reshardctl.snapshot.file import load

    if not is_snapshot(text):
        return None
    path, _ = _parts(text)
    _nothing_of_aws(text, selection)
    saved = load(path)
    return None if saved.consumers else (saved.lineage, saved.taken)


def stream_in_files(selection: FilesSelection, observer: Observer) -> tuple[Lineage, float]:
    """The lineage that files hold, and their time."""
    from reshardctl.commands.printed import saved_of

    saved = saved_of(selection, None, observer, whole=True)
    return saved.lineage, saved.taken


def one_in_snapshot(text: str, selection: Selection) -> Target:
    """The only consumer. UsageError if the file has several and none is named."""
    selected = targets_in_snapshot(text, selection)
    if len(selected) > 1:
        names = [target.locator.target for target in selected]
        raise UsageError(
            f"{text}: the snapshot has {len(selected)} consumers",
            " or ".join(f"{_joined(text, name)}" for name in names[:3]),
        )
    return selected[0]


def _parts(text: str) -> tuple[Path, dict[str, str]]:
    path, _, query = text.removeprefix(SCHEME).partition("?")
    if not path:
        raise UsageError(f"{text}: no file is named", f"as in {EXAMPLE}")
    return Path(path), options(text, query, "snapshot:FILE?initial=TRIM_HORIZON")


def _nothing_of_aws(text: str, selection: Selection) -> None:
    if argv := words(selection.account):
        raise UsageError(
            f"{text} is read from a file, so {argv[0]} leads nowhere", f"leave {argv[0]} out"
        )


def _named(path: Path, name: str | None) -> tuple[list[Snapshot], bool]:
    """The consumers of a file, or the one of this name; and whether the file is redacted."""
    from reshardctl.snapshot.file import consumers, load

    saved = load(path)
    snapshots: Mapping[str, Snapshot] = consumers(saved)
    if not snapshots:
        raise UsageError(
            f"{path} holds a stream and no consumer",
            f"reshardctl graph {shlex.quote(f'{SCHEME}{path}')}, or take one with its consumers: "
            "reshardctl snapshot CONSUMER --stream STREAM -o FILE",
        )
    if name is None:
        return list(snapshots.values()), saved.redacted
    if name not in snapshots:
        raise UsageError(
            f"{path} has no consumer {name!r}", f"it has {', '.join(snapshots)}"
        )
    return [snapshots[name]], saved.redacted


def _target(
    text: str, snapshot: Snapshot, options: Mapping[str, str], selection: Selection
) -> Target:
    from reshardctl.commands.connect import checked
    from reshardctl.commands.target import Target

    kept = snapshot.locator
    try:
        locator = checked(dataclasses.replace(kept, text=text, options={**kept.options, **options}))
    except UsageError as error:
        raise UsageError(f"{text}: {kept.text}: {error.what}", error.next) from None
    repair_options = repair_options_of(
        selection.policy or "lossless", selection.accept, selection.bootstrap, selection.recreated
    )
    stream = selection.stream or snapshot.lineage.stream.arn
    frozen = replace(snapshot, locator=locator)
    argv = (text, *(["--probe"] if selection.probe else []))
    return Target(
        stream,
        locator,
        repair_options,
        bool(selection.probe),
        argv,
        lambda: _ports(frozen),
        offline=True,
        to_write=_to_write(snapshot, options),
    )


def _to_write(snapshot: Snapshot, options: Mapping[str, str]) -> tuple[str, ...]:
    """The store itself, with the options of the application from the file and the text."""
    kept = snapshot.locator
    store = kept.elsewhere(kept.arn or kept.target, {**kept.options, **options})
    return (store.text, "--stream", snapshot.lineage.stream.name)


def only_shown(dry_run: bool, out: Path | None, target: Target) -> None:
    """UsageError for what a snapshot or files cannot give: a write, or a plan to apply."""
    from reshardctl.render.words import CLIENTS

    if not target.to_write:
        if dry_run and out is None:
            return
        form = CLIENTS.get(target.locator.medium)
        if dry_run:
            raise UsageError(
                "--out: a plan is proven on the store that it is made for, not on files",
                f"--format {form} in its place: a script that writes the plan" if form else
                "leave it out, or name the store itself: --stream STREAM, and no files",
            )
        raise UsageError(
            f"{target.locator.text} cannot be written to: files show what was",
            f"add --dry-run --format {form}: a script that writes the plan" if form else
            "add --dry-run, or name the store itself: --stream STREAM, and no files",
        )
    if target.repair_options.redacted and (out is not None or not dry_run):
        raise UsageError(
            f"{target.locator.text} is redacted: no store has its names",
            "make the fix from the real store: reshardctl fix CONSUMER --stream STREAM --dry-run",
        )
    instead = command_line("reshardctl", "fix", *target.to_write)
    if not dry_run:
        raise UsageError(
            f"{target.locator.text} cannot be written to: it shows what was",
            f"add --dry-run, or name the store itself: {instead}",
        )
    if out is not None:
        raise UsageError(
            "--out: a plan is proven on the store that it is made for, not on a snapshot",
            f"{instead} --dry-run {command_line('--out', str(out))}",
        )


def _joined(text: str, name: str) -> str:
    return f"{text}{'&' if '?' in text else '?'}consumer={name}"


def _ports(snapshot: Snapshot) -> Ports:
    from reshardctl.snapshot import Ports
    from reshardctl.snapshot.take import FrozenStore, FrozenStream

    return Ports(
        FrozenStream(snapshot), FrozenStore(snapshot), lambda: snapshot.now, _never
    )


def _never(_seconds: float) -> None:
    raise UsageError("nothing moves in a snapshot", "name the consumer itself")


def one(text: str, selection: Selection, observer: Observer) -> Target:
    """The consumer that a locator names. UsageError before anything is called."""
    with _or_a_file(text):
        (target,) = _budgeted([_one(text, selection, observer)], selection)
        return target


@contextmanager
def _or_a_file(text: str) -> Iterator[None]:
    """A UsageError of the body says if the text names a plan, a journal or another known file."""
    try:
        yield
    except UsageError:
        path = Path(text)
        if looks_like_one(text) or not path.is_file():
            raise
        with or_another_kind(content(path, "name a consumer"), text, "a consumer"):
            raise


def _one(text: str, selection: Selection, observer: Observer) -> Target:
    if isinstance(selection, FilesSelection) and selection.file_words:
        return _of_files(text, selection, observer)
    if is_snapshot(text):
        return one_in_snapshot(text, selection)
    if config := configured.names(text, selection):
        configured.tell_file(config.file, selection.config, observer)
        return configured.one(text, config, selection, observer)
    locator = place_of(text, observer)
    if selection.stream is None:
        raise UsageError("--stream is missing", "add --stream NAME or --stream ARN")
    return _located(locator, selection.stream, selection, observer)


def _located(locator: Locator, stream: str, selection: Selection, observer: Observer) -> Target:
    repair_options = repair_options_of(
        selection.policy or "lossless", selection.accept, selection.bootstrap, selection.recreated
    )
    argv = (locator.text, *words(selection, ("--stream", *WANTED)))
    return Target(
        stream, locator, repair_options, bool(selection.probe), argv,
        lambda: ports_of(selection.account, locator, observer, stream),
    )


def _of_files(text: str, selection: FilesSelection, observer: Observer) -> Target:
    """The consumer of a locator or a name, as files show it."""
    from reshardctl.commands.printed import saved_of

    if is_snapshot(text):
        raise UsageError(
            f"{text} is read from a file, and so holds its stream and its positions",
            f"leave {selection.file_words[0]} out",
        )
    if config := configured.names(text, selection):
        target = configured.one(text, config, selection, observer)
    else:
        locator = place_of(text, observer)
        target = _located(locator, selection.stream or "", selection, observer)
    saved = saved_of(selection, target.locator, observer, whole=True)
    (frozen,) = saved.consumers
    kept = ("--config", "--policy", "--accept", "--created", "--recreated", "--bootstrap")
    repair_options = replace(target.repair_options, files=selection.file_words)
    return replace(
        target, opened=lambda: _ports(frozen), offline=True, probe=False,
        repair_options=repair_options,
        stream=target.stream or saved.lineage.stream.arn,
        argv=(target.argv[0], *selection.file_words, *words(selection, kept)),
    )


def _only(texts: Sequence[str], selection: FilesSelection) -> str:
    """The only consumer that is named. UsageError for another number of them."""
    if len(texts) != 1:
        from reshardctl.commands.printed import require_listing

        require_listing(selection)
        raise UsageError(
            f"{selection.file_words[0]} is of one consumer, and {len(texts)} are named",
            "name the one whose positions --rows has, as in kcl://my-application",
        )
    return texts[0]


def several(texts: Sequence[str], selection: Selection, observer: Observer) -> list[Target]:
    """The consumers of locators or configured names, each once; all configured ones for no name.

    A snapshot means all of its consumers. UsageError before anything is called.
    """
    return _budgeted(_several(texts, selection, observer), selection)


_MAY_READ = frozenset({"--count", "--positions", "--set", "--shift", "--skipped", "--from"})
"""Options beside --probe and --policy for which records are read."""


def _budgeted(targets: list[Target], selection: Selection) -> list[Target]:
    """The targets; UsageError for --probe-budget where no records are read.

    Suggested commands leave out --count, and with it a budget that is for --count alone.
    """
    if selection.account.budget is None:
        return targets
    others = given(selection) & _MAY_READ
    reading = [t.probe or t.repair_options.policy != LOSSLESS for t in targets]
    if not others and not any(reading):
        raise UsageError(
            "--probe-budget says how much may be read, and without --probe no records are read",
            "add --probe, or leave --probe-budget out",
        )
    if any(reading) or others != {"--count"}:
        return targets
    return [replace(t, argv=without(t.argv, "--probe-budget")) for t in targets]


def _several(texts: Sequence[str], selection: Selection, observer: Observer) -> list[Target]:
    if isinstance(selection, FilesSelection) and selection.file_words:
        return [one(_only(texts, selection), selection, observer)]
    if not texts:
        config = _configuration(selection)
        configured.tell_file(config.file, selection.config, observer)
        return configured.several((), config, selection, observer)
    file = ""
    targets: list[Target] = []
    for text in texts:
        if is_snapshot(text):
            targets += targets_in_snapshot(text, selection)
        elif configuration := configured.names(text, selection):
            file = configuration.file
            with _or_a_file(text):
                targets += configured.several([text], configuration, selection, observer)
        else:
            targets.append(one(text, selection, observer))
    if file:
        configured.tell_file(file, selection.config, observer)
    unique = {_identity(target): target for target in targets}
    return list(unique.values())


def _configuration(selection: Selection) -> Config:
    """The configuration, where no consumer is named."""
    if selection.config is None and nearest() is None:
        raise UsageError(
            f"no consumer is named, and there is no {DEFAULT} here or in a folder above",
            "name one, as in kcl://my-application --stream my-stream, or the file with --config",
        )
    return configured.config_of(selection)


def _identity(target: Target) -> str:
    return target.locator.text if target.entry is None else f"{target.entry.name} by its name"
