"""What a command works on: a consumer, its stream, how to reach both, and what is wanted of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reshardctl.codec.strict import or_another_kind
from reshardctl.commands.connect import place_of, ports_of
from reshardctl.commands.observer import Observer
from reshardctl.commands.request import repair_options_of
from reshardctl.commands.suggested_commands import suggested_command
from reshardctl.commands.target import Selection, Target
from reshardctl.commands.targets import configured
from reshardctl.commands.targets import snapshot as offline
from reshardctl.config.entries import Config
from reshardctl.config.nearest import DEFAULT, nearest
from reshardctl.consumers.locator import looks_like_one
from reshardctl.errors import UsageError
from reshardctl.stores.given_file import content


def one(text: str, selection: Selection, observer: Observer) -> Target:
    """The consumer that a locator names. UsageError before anything is called."""
    with _or_a_file(text):
        return _one(text, selection, observer)


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
    if offline.is_snapshot(text):
        return offline.one(text, selection)
    if config := configured.names(text, selection):
        configured.tell_file(config.file, selection.config, observer)
        return configured.one(text, config, selection, observer)
    locator = place_of(text, observer)
    stream = selection.stream
    if stream is None:
        raise UsageError("--stream is missing", "add --stream NAME or --stream ARN")
    repair_options = repair_options_of(
        selection.policy or "lossless", selection.accept, selection.bootstrap, selection.recreated
    )
    argv = suggested_command(
        locator,
        stream,
        selection.account,
        selection.policy,
        selection.accept,
        repair_options,
        selection.probe,
        selection.created,
    )
    return Target(
        stream, locator, repair_options, bool(selection.probe), tuple(argv),
        lambda: ports_of(selection.account, locator, observer, stream),
    )


def several(texts: Sequence[str], selection: Selection, observer: Observer) -> list[Target]:
    """The consumers of locators or configured names, each once; all configured ones for no name.

    A snapshot means all of its consumers. UsageError before anything is called.
    """
    if not texts:
        config = _configuration(selection)
        configured.tell_file(config.file, selection.config, observer)
        return configured.several((), config, selection, observer)
    file = ""
    targets: list[Target] = []
    for text in texts:
        if offline.is_snapshot(text):
            targets += offline.targets(text, selection)
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
