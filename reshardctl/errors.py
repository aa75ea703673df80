"""Everything reshardctl raises on purpose.

    ReshardError                     exit
    ├── UsageError                   2   flag, locator, time, file the operator named
    │   ├── WrongStream              2   the positions belong to another stream
    │   └── NoStore                  2   no such table or directory is there
    ├── CannotTell                   3   a read failed or came short
    │   ├── StreamUnsettled          3   the listing tears or moves, again and again
    │   ├── EmptyCheckpoint          3   no position stored, and nobody said that it is new
    │   ├── AnswerLost               3   a write was sent, and nobody can say whether it landed
    │   └── TimedOut                 3   `--wait` ran out
    ├── Refused                      4   a safety gate; nothing was written
    │   ├── ConsumerRunning          4   leases moved while we watched
    │   ├── StalePlan                4   the state is no longer what the plan was proven on
    │   ├── NotConfirmed             4   no terminal and neither --yes nor --plan
    │   └── UndoRefused              4   a row moved since the fix
    ├── HalfDone                     5   some writes landed, the journal tells which
    └── Cancelled                    130 interrupted before the first write

Each carries one line of what happened and, where there is one, the next command to run.
"""

from __future__ import annotations

from reshardctl.exit import Exit


class ReshardError(Exception):
    """A failure with an exit code. `next` is the command to run or the thing to change, or ""."""

    exit = Exit.UNKNOWN

    def __init__(self, what: str, next: str = "") -> None:  # noqa: A002
        super().__init__(what)
        self.what = what
        self.next = next


class UsageError(ReshardError):
    """The operator's request cannot be met."""

    exit = Exit.USAGE


class WrongStream(UsageError):
    """Stored numbers decode as another stream's."""


class NoStore(UsageError):
    """There is no such table or directory: a mistyped name, or a deleted store.

    `table` and `region` name it.
    """

    def __init__(
        self, what: str, next: str = "", table: str = "", region: str = ""  # noqa: A002
    ) -> None:
        super().__init__(what, next)
        self.table, self.region = table, region


class CannotTell(ReshardError):
    """A read failed or came short: any answer might be wrong."""

    exit = Exit.UNKNOWN


class StreamUnsettled(CannotTell):
    """ListShards gave answers that cannot all be true, more often than we retry."""


class EmptyCheckpoint(CannotTell):
    """The store holds no position, and the operator did not declare the consumer new."""


class AnswerLost(CannotTell):
    """A step was sent, and it is unknown whether it is in place or may still arrive.

    Any other error of `Store.write` means that nothing of the step is in place.
    """


class TimedOut(CannotTell):
    """A wait ran out."""


class Refused(ReshardError):
    """A safety check failed. Nothing was written."""

    exit = Exit.REFUSED


class ConsumerRunning(Refused):
    """The consumer gave signs of life."""


class StalePlan(Refused):
    """What the plan's proof rests on has changed."""


class NotConfirmed(Refused):
    """Consent was not given."""


class UndoRefused(Refused):
    """A row is no longer as the fix left it. `rows` are the keys of such rows."""

    def __init__(
        self, what: str, next: str = "", rows: tuple[str, ...] = ()  # noqa: A002
    ) -> None:
        super().__init__(what, next)
        self.rows = rows


class HalfDone(ReshardError):
    """Some writes are in place. `journal` names the file that tells which."""

    exit = Exit.HALF_DONE

    def __init__(self, what: str, next: str = "", journal: str = "") -> None:  # noqa: A002
        super().__init__(what, next)
        self.journal = journal


class Cancelled(ReshardError):
    """Interrupted before the first write."""

    exit = Exit.CANCELLED
