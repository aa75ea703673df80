"""The commands of the demo, as an operator types them, with their expected exit codes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reshardctl.demo.scene import STREAM, TABLE
from reshardctl.errors import CannotTell
from reshardctl.exit import Exit

PLAN = "orders.plan"
JOURNALS = "journals"
"""The directory of the journals, relative to where the commands run."""
STOPPED = "--assume-stopped"
"""No consumer reads the demo's table, so it need not be watched for half a minute."""


@dataclass(frozen=True, slots=True)
class Command:
    """A question, the words after `reshardctl`, the exit code, and a word of the answer."""

    question: str
    words: tuple[str, ...]
    code: Exit
    says: str = ""

    @property
    def line(self) -> str:
        """The command as it is typed."""
        return shlex.join(("reshardctl", *self.words))


def commands(folder: Path) -> Iterator[Command]:
    """The commands in order: the last one names the journal that an earlier one has written.

    folder: where they run.
    """
    inspect = ("inspect", f"kcl://{TABLE}", "--stream", STREAM, "--format", "text")
    yield Command("Is anything wrong?", inspect, Exit.FINDINGS, "RSH203")
    yield Command(
        "What would make it right? Nothing is written yet.",
        ("fix", f"kcl://{TABLE}", "--stream", STREAM, "--dry-run", "--out", PLAN,
         "--format", "text"),
        Exit.FINDINGS, PLAN,
    )  # fmt: skip
    yield Command(
        "Do exactly that. Nothing reads this table, so fix need not watch it first.",
        ("fix", "--plan", PLAN, STOPPED, "--yes", "--format", "text"), Exit.OK,
    )  # fmt: skip
    yield Command("Is anything wrong now?", inspect, Exit.OK)
    journal = _journal(folder)
    yield Command(
        "And what would take it back?",
        ("undo", journal, "--dry-run", "--format", "text"), Exit.FINDINGS,
    )  # fmt: skip


def _journal(folder: Path) -> str:
    journals = [path.relative_to(folder) for path in (folder / JOURNALS).glob("*.jsonl")]
    if len(journals) != 1:
        raise CannotTell(f"the demo's fix left {len(journals)} journals, not 1")
    return str(journals[0])
