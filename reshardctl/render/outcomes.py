"""What a command did, as it hands it in to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.diagnosis.report import Report
from reshardctl.model import Step


@dataclass(frozen=True, slots=True)
class Saved:
    """A plan file. digest: its SHA-256 in hexadecimal."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A journal or a plan that was not made here, before anything is called.

    name: its path or s3:// URL. host: the server that its locator names, "" for a store that is
    named by a table or a path alone. steps: what would be written if the rows are as it says.
    accepting: the complete command that needs no answer.
    """

    name: str
    locator: str
    host: str
    stream: str
    steps: tuple[Step, ...]
    accepting: str


@dataclass(frozen=True, slots=True)
class Planned:
    """A report whose decision is shown as what fix would write.

    dry_run: nothing is written afterwards; otherwise the plan is shown before consent is asked
    for. saved: the file that holds the plan, where there is one.
    """

    report: Report
    dry_run: bool = True
    saved: Saved | None = None


@dataclass(frozen=True, slots=True)
class Fixed:
    """An applied plan. before: what it was made from; after: the rows as read back, judged.

    written: steps written now; recognised: steps that were in place already.
    """

    before: Report
    after: Report
    steps: tuple[Step, ...]
    journal: str
    written: int
    recognised: int = 0


@dataclass(frozen=True, slots=True)
class Undoing:
    """An undo, wanted or done. now: the rows before it, judged.

    after: the rows after it, judged; `None` where it leaves no position at all. written: `None`
    for a dry run. kept: what of the fix stays, a sentence each, where nothing else of its row goes
    back. of_plan: its journal is lost, `journal` names the plan's file. dry_run: as in `Planned`.
    """

    now: Report
    after: Report | None
    steps: tuple[Step, ...]
    journal: str
    written: int | None = None
    kept: tuple[str, ...] = ()
    of_plan: bool = False
    dry_run: bool = True
