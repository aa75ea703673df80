"""The request of `fix`: from a store, a saved plan, or the journal of an interrupted fix.

`python -O` is refused: it drops the assertions that parts of a plan's proof rely on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reshardctl.codec.argv import option, words
from reshardctl.commands.exclusions import GIVEN, require_compatible, set_in
from reshardctl.commands.journals import Journals
from reshardctl.commands.target import GivenSelection, accept_of, asked
from reshardctl.consumers.locator import stop_words
from reshardctl.errors import Refused, UsageError
from reshardctl.model.times import parse_seconds
from reshardctl.stores.named_file import check_new_file


def refuse_optimized(dry_run: bool) -> None:
    """Refused if something might be written without assertions."""
    if sys.flags.optimize and not dry_run:
        raise Refused(
            "Python runs with -O or PYTHONOPTIMIZE, which leaves checks of the plan out; nothing "
            "was written",
            "run it without them",
        )


USUAL_WATCH = "30s"
HOW = ("--assume-stopped", "--live", "--watch", "--journal")
"""The options of a fix that say how to write."""


@dataclass(frozen=True, slots=True)
class FixRequest(GivenSelection):
    """Which consumer to repair, and how. Give exactly one of consumer, plan and resume.

    Texts are spelled as the options of `fix` are.
    """

    consumer: str | None = None
    """A locator, or a name in reshardctl.toml."""
    plan: Path | None = option("--plan")
    """A saved plan to apply exactly."""
    resume: str | None = option("--resume")
    """The journal of a fix that was interrupted: its name, path or s3://BUCKET/KEY."""
    out: Path | None = option("--out")
    """A new file for the plan, written before the plan is shown."""
    to: Path | None = option("--to")
    """A new directory for a copy of a Spark checkpoint; the copy is repaired."""
    count: bool = option("--count", False)
    """Whether to count the records of every effect, which reads the stream."""
    assume_stopped: bool = option("--assume-stopped", False)
    """Whether the consumer is known to be stopped; the journal records it as your word."""
    live: bool = option("--live", False)
    """Whether to write while the consumer runs, if every write is safe then."""
    watch: str | None = option("--watch", usual=USUAL_WATCH)
    """How long to watch the rows for signs of life before anything is written; by default what
    reshardctl.toml says of the consumer, or `30s`, or longer where this consumer needs it."""
    journal: str | None = option("--journal")
    """Where to keep the journal: a file, a directory or s3://BUCKET/PREFIX; by default in this
    machine's directory of journals."""
    skipped: Path | None = option("--skipped")
    """A new file for what the first start after the fix skips, as intervals by shard; saved before
    the first write, and with a dry run too."""
    by_hand: bool = False
    """Whether somebody else writes what a dry run shows: refused unless it is proven whose the rows
    are."""
    yes: bool = False
    """Whether nobody is asked: shards of which nothing is certain to be lost, and whose repair
    costs more than is taken without a question, are left alone if the others can be mended."""

    @property
    def patience(self) -> str:
        """How long to watch before a write."""
        return self.watch or USUAL_WATCH

    @property
    def verb(self) -> str:
        """The command of the same request."""
        return "fix"


def ways_to_write(request: FixRequest, locator: str) -> tuple[str, ...]:
    """The options of a request that say how to write, with one that a silent store needs."""
    given = words(request, HOW)
    return given if request.live or request.assume_stopped else (*given, *stop_words(locator))


def require_consistent(request: FixRequest, *, dry_run: bool) -> None:
    """Raises Refused or UsageError for a request that cannot be met, before any call."""
    refuse_optimized(dry_run)
    _one_source(request)
    patience(request.patience, dry_run)
    request.created_at, request.recreated_at  # noqa: B018 - UsageError for what is no time
    accept_of(request.accept)
    request.scope  # noqa: B018 - UsageError for what cannot be selected
    names = asked(request) | set_in({"--dry-run": dry_run})
    require_compatible(names, "--live", *GIVEN, "--created", "--plan", "--resume")
    Journals(request.account).check(request.journal)
    if request.out is not None:
        check_new_file(request.out, "--out")
    if request.skipped is not None:
        check_new_file(request.skipped, "--skipped")


def patience(watch: str, dry_run: bool) -> float:
    """Seconds to look for signs of life. UsageError for 0, which would prove nothing."""
    seconds = parse_seconds(watch, "--watch")
    if not seconds and not dry_run:
        raise UsageError(
            f"--watch {watch} shows nothing of whether the consumer is stopped",
            "if you know that it is, say so: --assume-stopped",
        )
    return seconds


def sources(request: FixRequest) -> Sequence[str]:
    """Which of consumer, plan and journal are given."""
    named = (
        ("a consumer", request.consumer), ("--plan", request.plan), ("--resume", request.resume)
    )
    return [name for name, value in named if value is not None]


def _one_source(request: FixRequest) -> None:
    """UsageError unless exactly one of consumer, plan and journal is named."""
    named, verb = sources(request), request.verb
    if len(named) != 1:
        both = (
            f"{' and '.join(named)} exclude each other: a plan and a journal name their consumer "
            "themselves"
        )
        what = both if named else f"nothing to {verb} is named"
        more = "" if verb == "fix" else " --from SINK"
        raise UsageError(
            what, f"reshardctl {verb} CONSUMER --stream STREAM{more}, or --plan PLAN, or --resume "
            "JOURNAL",
        )
    if named != ["a consumer"] and request.stream is not None:
        raise UsageError(f"{named[0]} names its stream itself", "leave --stream out")
