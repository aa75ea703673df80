"""What a command works on: a consumer, its stream, how to reach both, and what is wanted of it."""

from __future__ import annotations

from collections.abc import Sequence

from reshardctl.commands.connect import place_of, ports_of
from reshardctl.commands.observer import Observer
from reshardctl.commands.request import wishes_of
from reshardctl.commands.suggested_commands import suggested_command
from reshardctl.commands.target import Given, Target
from reshardctl.commands.targets import configured
from reshardctl.commands.targets import snapshot as offline
from reshardctl.errors import UsageError


def one(text: str, given: Given, observer: Observer) -> Target:
    """The consumer that a locator names. UsageError before anything is called."""
    if offline.is_snapshot(text):
        return offline.one(text, given)
    if config := configured.names(text, given):
        return configured.one(text, config, given, observer)
    place = place_of(text, observer)
    if given.stream is None:
        raise UsageError("--stream is missing", "add --stream NAME or --stream ARN")
    wishes = wishes_of(
        given.policy or "lossless", given.accept, given.bootstrap, given.recreated
    )
    argv = suggested_command(
        place, given.stream, given.account, given.policy, given.accept, wishes, given.probe,
        given.created,
    )
    return Target(
        given.stream, place, wishes, given.probe, tuple(argv),
        lambda: ports_of(given.account, place, observer),
    )


def several(texts: Sequence[str], given: Given, observer: Observer) -> list[Target]:
    """The consumers of locators or configured names, each once; all that are configured for none.

    A snapshot's are all of its consumers. UsageError before anything is called.
    """
    if not texts:
        return configured.several((), configured.config_of(given), given, observer)
    found: list[Target] = []
    for text in texts:
        if offline.is_snapshot(text):
            found += offline.targets(text, given)
        elif config := configured.names(text, given):
            found += configured.several([text], config, given, observer)
        else:
            found.append(one(text, given, observer))
    unique = {_identity(target): target for target in found}
    return list(unique.values())


def _identity(target: Target) -> str:
    return target.place.text if target.entry is None else f"{target.entry.name} by its name"
