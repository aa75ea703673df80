"""The results of a fix as values: the plan that is shown, who made it, and what was written.

Made here is a plan whose digest this machine's state folder has noted, a journal of such a
plan, and a journal in that folder; only if nobody else may write there. Others are asked about
before any call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from reshardctl.codec.argv import with_value
from reshardctl.config.nearest import distrusted
from reshardctl.errors import UsageError
from reshardctl.execution.plan_file import SavedPlan, save
from reshardctl.exit import Exit
from reshardctl.journal import state_dir
from reshardctl.journal.log import Where
from reshardctl.model import Step
from reshardctl.planning.decision import Ask, NoSafePlan, Nothing, Plan, Residual
from reshardctl.planning.policy import Accept
from reshardctl.planning.prices import flag
from reshardctl.render.words import command
from reshardctl.report.report import Report
from reshardctl.report.results import Fixed, Saved
from reshardctl.stores.given_file import content

_PLANS = "plans-made-here"
"""The file of the digests, one a line."""


def usual_directory() -> Path:
    """The directory of this machine's journals."""
    try:
        home = Path.home()
    except RuntimeError:  # no HOME, and no entry in passwd: container runtimes name the root
        home = Path("/")
    return state_dir(os.environ, home)


def note_plan(digest: str) -> None:
    """Notes that a plan was made here; where that cannot be noted, it is asked about."""
    directory = usual_directory()
    path = directory / _PLANS
    if digest in _noted(path):
        return
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, f"{digest}\n".encode())
        finally:
            os.close(descriptor)


def made_here(digest: str, where: Where | None = None) -> bool:
    """Whether this machine made a plan, or a journal of it. where: the journal."""
    directory = usual_directory()
    if isinstance(where, Path) and where.resolve().parent == directory.resolve():
        return not distrusted(where) or digest in _noted(directory / _PLANS)
    return digest in _noted(directory / _PLANS)


def _noted(path: Path) -> list[str]:
    if distrusted(path):
        return []
    try:
        return content(path, "").decode("ascii", "replace").split()
    except UsageError:
        return []


class Again(Struct, frozen=True):
    """A command of ours, to be repeated with consent.

    words: what it works on, and what the command accepted. how: the options that say how to write.
    """

    verb: str
    words: tuple[str, ...]
    how: tuple[str, ...]

    def command(self, *more: str, accepted: str = "") -> str:
        """The complete command, on one line. accepted: what `--accept` takes instead, if needed."""
        argv: Sequence[str] = [*self.words, *more, *self.how, "--yes"]
        argv = with_value(argv, "--accept", accepted) if accepted else argv
        return " ".join(command(self.verb, *argv))


class Planned(Struct, frozen=True):
    """What a fix would write, proven; or why there is no plan.

    report: what was read, judged; its `decision` says why if `plan` is `None`. limit: what the
    request accepts. words, sink_words: the arguments that name the consumer and its sink to other
    commands. saved: the file of the plan, if it was saved. name: what to call the consumer among
    several, "" for one alone. as_saved: whether an earlier command here showed and saved this plan,
    which is still the one to write.
    """

    report: Report
    plan: SavedPlan | None
    limit: Accept | None
    words: tuple[str, ...]
    sink_words: tuple[str, ...]
    again: Again
    saved: Saved | None = None
    name: str = ""
    as_saved: bool = False

    @property
    def steps(self) -> tuple[Step, ...]:
        """What would be written; empty if there is no plan."""
        return () if self.plan is None else self.plan.steps

    @property
    def decision(self) -> Plan:
        """The plan with its proof. UsageError if there is none."""
        if not isinstance(self.report.decision, Plan):
            raise UsageError("there is no plan", "see report.decision")
        return self.report.decision

    @property
    def exit(self) -> Exit:
        """FINDINGS if something is to be done or left, REFUSED if a question is open."""
        if self.plan is not None:
            return Exit.FINDINGS
        decision = self.report.decision
        refused = isinstance(decision, Ask) or (isinstance(decision, NoSafePlan) and decision.needs)
        return Exit.REFUSED if refused else left(self.report)

    @property
    def accepting(self) -> str:
        """The complete command that writes this plan without a question."""
        return self.again.command(accepted=flag(self.decision, self.limit))

    def save(self, path: Path) -> Saved:
        """Saves the plan for `FixRequest.plan`, readable by its owner only.

        An existing pipe or device is written to. UsageError if there is no plan, or if the file
        exists.
        """
        if self.plan is None:
            raise UsageError("there is no plan to save", "see report.decision")
        note_plan(self.plan.digest)
        save(self.plan, path)
        return Saved(str(path), self.plan.digest)


class FixResult(Struct, frozen=True):
    """What a fix has done.

    planned: what was shown; `None` if all of an interrupted fix was in place. fixed: what was
    written, with its journal and the report after it; `None` if there was nothing to write. words,
    sink_words: as in `Planned`.
    """

    planned: Planned | None
    fixed: Fixed | None
    words: tuple[str, ...]
    sink_words: tuple[str, ...] = ()

    @property
    def report(self) -> Report:
        """The latest judgement of the consumer."""
        if self.fixed is not None:
            return self.fixed.after
        assert self.planned is not None
        return self.planned.report

    @property
    def journal(self) -> str | None:
        """The journal's path or s3:// URL, for `undo`; `None` if nothing was written."""
        return None if self.fixed is None else self.fixed.journal

    @property
    def residuals(self) -> Sequence[Residual]:
        """Shards that were left alone because their repair costs more than is accepted."""
        decision = self.report.decision
        return decision.residuals if isinstance(decision, Nothing | Plan) else ()

    @property
    def exit(self) -> Exit:
        """OK if nothing is left to do, else FINDINGS."""
        return left(self.report)


def left(report: Report) -> Exit:
    """OK if nothing is left to repair, else FINDINGS."""
    return report.exit(not report.nothing_left)


Confirm = Callable[[Planned], bool]
"""Whether a plan may be written; it may raise NotConfirmed with words of its own instead."""
