"""What a command works on: a consumer, its stream, how to reach both, and what is wanted of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reshardctl.cli import configured, offline
from reshardctl.cli.connect import Account, place_of, ports_of
from reshardctl.cli.output import again
from reshardctl.cli.wishes import wishes_of
from reshardctl.errors import UsageError
from reshardctl.locator import Locator
from reshardctl.report import Wishes
from reshardctl.rules.suppressions import Suppression

if TYPE_CHECKING:
    from reshardctl.config import Consumer as Entry
    from reshardctl.repair import Ports


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line says beside the consumers; `None` where it says nothing."""

    stream: str | None = None
    account: Account = field(default_factory=Account)
    policy: str | None = None
    accept: str | None = None
    probe: bool = False
    bootstrap: bool = False
    recreated: str | None = None
    created: str | None = None
    """The creation time that the positions belong to, as an instant; for `fix`."""
    config: Path | None = None
    """The file of the configured names, if it is not the usual one."""


@dataclass(frozen=True, slots=True)
class Target:
    """One consumer to work on. words: the arguments that name it again in commands we print.

    opened: gives its ports; called at most once a command. Nothing is called before.
    """

    stream: str
    place: Locator
    wishes: Wishes
    probe: bool
    words: tuple[str, ...]
    opened: Callable[[], Ports]
    offline: bool = False
    """Whether it is a snapshot: nothing moves, nothing can be written."""
    to_write: tuple[str, ...] = ()
    """The words of commands that write, where they are others."""
    entry: Entry | None = None
    """What reshardctl.toml says of it, if it is named there."""
    suppressions: tuple[Suppression, ...] = ()
    """Which of its findings are known and accepted."""

    def ports(self) -> Ports:
        """Kinesis, the store and the clock."""
        return self.opened()


def one(text: str, given: Given) -> Target:
    """The consumer that a locator names. UsageError before anything is called."""
    if offline.is_snapshot(text):
        return offline.one(text, given)
    if config := configured.names(text, given):
        return configured.one(text, config, given)
    place = place_of(text)
    if given.stream is None:
        raise UsageError("--stream is missing", "add --stream NAME or --stream ARN")
    wishes = wishes_of(
        given.policy or "lossless", given.accept, given.bootstrap, given.recreated
    )
    words = again(
        place, given.stream, given.account, given.policy, given.accept, wishes, given.probe,
        given.created,
    )
    return Target(
        given.stream, place, wishes, given.probe, tuple(words),
        lambda: ports_of(given.account, place),
    )


def several(texts: Sequence[str], given: Given) -> list[Target]:
    """The consumers of locators or configured names, each once; all that are configured for none.

    A snapshot's are all of its consumers. UsageError before anything is called.
    """
    if not texts:
        return configured.several((), configured.config_of(given), given)
    found: list[Target] = []
    for text in texts:
        if offline.is_snapshot(text):
            found += offline.targets(text, given)
        elif config := configured.names(text, given):
            found += configured.several([text], config, given)
        else:
            found.append(one(text, given))
    unique = {_identity(target): target for target in found}
    return list(unique.values())


def _identity(target: Target) -> str:
    return target.place.text if target.entry is None else f"{target.entry.name} by its name"
