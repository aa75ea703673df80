"""What a command works on: a consumer, its stream, how to reach both, and what is wanted of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reshardctl.commands.account import Account
from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.report import Wishes
from reshardctl.diagnosis.rules.suppressions import Suppression

if TYPE_CHECKING:
    from reshardctl.config import Consumer as Entry
    from reshardctl.execution.repair import Ports


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
