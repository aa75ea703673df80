"""Everything reshardctl raises on purpose; docs/exit-codes.md is made of these classes.

Each error carries one sentence that says what happened and, where there is one, the next command to
run. A class has an `id` that stays for good, whatever the class is called: E and three digits, the
first of which is the exit code (E130 for a cancelled command). Each docstring ends with a paragraph
that begins with "Next:".
"""

from __future__ import annotations

import shlex
from typing import ClassVar

from reshardctl.exit import Exit


class ReshardError(Exception):
    """Any failure with an exit code.

    Attributes:
        what: One sentence that says what happened.
        next: What to run or to change now, or "".

    Next: see the error's own kind. One without a kind is a defect: report it with the output under
    RESHARDCTL_TRACEBACK=1.
    """

    id: ClassVar[str] = "E300"
    exit = Exit.UNKNOWN
    unjudged: tuple[str, str] | None = None
    """Stream and consumer that could not be judged because of it, for metrics."""

    def __init__(self, what: str, next: str = "") -> None:  # noqa: A002
        super().__init__(what)
        self.what = what
        self.next = next


def command_line(*words: str) -> str:
    """A command, or words of one, to paste into a shell: whatever is in a name stays one word."""
    return shlex.join(words)


def install(extra: str) -> str:
    """The command that installs an extra: from a checkout, as no package index has reshardctl."""
    return f"pip install '.[{extra}]'   # in a checkout of reshardctl"


REPLAN = "make a new plan: reshardctl fix CONSUMER --stream STREAM --dry-run"
"""The next step where the consumer is not known; `commands/consent.py` names it."""


INSPECT = "see the rows as they are: reshardctl inspect CONSUMER --stream STREAM"
"""The next step of the same kind."""


class UsageError(ReshardError):
    """An option, a locator, a time or a file cannot be used.

    Next: correct what the message names; see `--help`.
    """

    id = "E200"
    exit = Exit.USAGE


class WrongStream(UsageError):
    """The stored positions are those of another stream.

    Their sequence numbers or keys show it; or no number tells, and more than half of the rows are
    of shards that the stream never had, or at the end of shards that are open.

    Next: name that stream with `--stream`, or the store of this one.
    """

    id = "E201"


class NoStore(UsageError):
    """There is no such table or directory.

    Attributes:
        table: The missing table, or "".
        region: Where it was looked for, or "".

    `rebuild` refuses instead (exit 4), with the command that creates the store.

    Next: check name, account and region; `reshardctl discover STREAM` finds a stream's tables. If
    the store was deleted, run `reshardctl rebuild`.
    """

    id = "E202"

    def __init__(
        self, what: str, next: str = "", table: str = "", region: str = ""  # noqa: A002
    ) -> None:
        super().__init__(what, next)
        self.table, self.region = table, region


class NotLoaded(UsageError):
    """A text of the store cannot be read, and the program that keeps it does not load it either.

    `inspect` and `fix` report RSH301 instead.

    Next: correct the text, or restore it from a backup.
    """

    id = "E204"


class NoJournal(UsageError):
    """There is no journal at this S3 address.

    Next: `reshardctl undo --list s3://BUCKET` lists them.
    """

    id = "E203"


class CannotTell(ReshardError):
    """A read failed or was incomplete: any report might be wrong.

    Next: remove the cause that the message names (permissions, network, throttling), and run the
    command again.
    """

    id = "E301"
    exit = Exit.UNKNOWN


class StreamUnsettled(CannotTell):
    """ListShards kept contradicting itself.

    Next: wait until the stream is ACTIVE, and run the command again.
    """

    id = "E302"


class EmptyCheckpoint(CannotTell):
    """The store was read and holds no position, and nobody declared the consumer new.

    Next: check the name. For a new application, run `reshardctl fix --bootstrap`; for one that lost
    its positions, `reshardctl rebuild`.
    """

    id = "E600"
    exit = Exit.NOTHING_FOUND


class AnswerLost(CannotTell):
    """A step was sent, and it is not known whether it was written or may still arrive.

    Only `Store.write` in Python raises it: `fix` and `undo` end with E500 (exit 5) instead. After
    its other errors nothing was written.

    Next: run `reshardctl fix --resume` with the journal; it reads the rows first.
    """

    id = "E304"


class TimedOut(CannotTell):
    """The time of `--wait` ran out.

    Next: wait longer, or inspect without `--wait`.
    """

    id = "E305"


class Refused(ReshardError):
    """A safety check failed, or the store refused the write: nothing was written.

    Next: do what the message says; there is no `--force`.
    """

    id = "E400"
    exit = Exit.REFUSED


class ConsumerRunning(Refused):
    """Rows changed while they were watched: the consumer is running.

    Next: stop the application, or use `--live` if every write is safe then.
    """

    id = "E401"


class StalePlan(Refused):
    """The state is no longer the one that the plan was proven on.

    Next: make a new plan with `reshardctl fix`.
    """

    id = "E402"


class NotConfirmed(Refused):
    """Nobody agreed to the plan: the answer was no, or there was no terminal to ask at.

    Also for a journal or a plan from elsewhere, or one that was made with an option which is
    missing now.

    Next: add `--yes`, or the option that the message names.
    """

    id = "E403"


class UndoRefused(Refused):
    """A row is no longer as the fix left it: undo would overwrite what came after.

    Attributes:
        rows: The keys of such rows.

    Next: first undo the newer fix that the message names; else `reshardctl undo --show` has the
    rows before the fix, and `reshardctl fix --set` goes back to them.
    """

    id = "E404"

    def __init__(
        self, what: str, next: str = "", rows: tuple[str, ...] = ()  # noqa: A002
    ) -> None:
        super().__init__(what, next)
        self.rows = rows


class HalfDone(ReshardError):
    """Some or all writes were made, and then something failed.

    Attributes:
        journal: The journal that says which.

    Next: run `reshardctl fix --resume` with the journal to finish, or `reshardctl undo` with it to
    go back.
    """

    id = "E500"
    exit = Exit.HALF_DONE

    def __init__(self, what: str, next: str = "", journal: str = "") -> None:  # noqa: A002
        super().__init__(what, next)
        self.journal = journal


class Cancelled(ReshardError):
    """The command was interrupted before its first write.

    Next: nothing has to be repaired.
    """

    id = "E130"
    exit = Exit.CANCELLED
