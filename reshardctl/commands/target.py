"""What a command works on: a consumer, its stream, how to reach both, and what is wanted of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reshardctl.commands.account import Account
from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.rules.suppressions import Suppression
from reshardctl.model.times import parse_instant
from reshardctl.report.report import RepairOptions

if TYPE_CHECKING:
    from reshardctl.config.entries import Consumer as Entry
    from reshardctl.execution.ports import Ports


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The options beside the consumers, spelled as on the command line.

    `None` means not given: the configuration decides, if it names the consumer, or the default.
    """

    stream: str | None = None
    """Name or ARN; needed if the consumer is named by a locator."""
    account: Account = field(default_factory=Account)
    """How AWS is reached."""
    policy: str | None = None
    """`lossless`, `latest`, `at-timestamp=TIME` or `latest-at-start`."""
    accept: str | None = None
    """What a repair may cost per shard: `skip=12m,reread=3h,disorder`."""
    probe: bool | None = None
    """Whether bounded reads of the stream may decide what the rows leave open."""
    bootstrap: bool = False
    """Whether the application is new, and its first positions are to be made."""
    recreated: str | None = None
    """The creation time of the stream that replaced an earlier one of its name."""
    created: str | None = None
    """The creation time of the stream that the positions belong to."""
    config: Path | None = None
    """The configuration file, if it is not the usual one."""

    @property
    def created_at(self) -> float | None:
        """`created` in Unix seconds. UsageError if it is no time."""
        return None if self.created is None else parse_instant(self.created, "--created")

    @property
    def recreated_at(self) -> float | None:
        """`recreated` in Unix seconds. UsageError if it is no time."""
        return None if self.recreated is None else parse_instant(self.recreated, "--recreated")


@dataclass(frozen=True, slots=True)
class Target:
    """One consumer to work on.

    argv: the arguments that name it in commands we print. opened: makes its ports; called at most
    once per command. Nothing is called before.
    """

    stream: str
    locator: Locator
    repair_options: RepairOptions
    probe: bool
    argv: tuple[str, ...]
    opened: Callable[[], Ports]
    offline: bool = False
    """Whether it is a snapshot: nothing changes, nothing can be written."""
    to_write: tuple[str, ...] = ()
    """The words of commands that write, if they are others."""
    entry: Entry | None = None
    """Its entry in reshardctl.toml, if it is named there."""
    suppressions: tuple[Suppression, ...] = ()
    """Which of its findings are known and accepted."""

    def ports(self) -> Ports:
        """Kinesis, the store and the clock."""
        return self.opened()
