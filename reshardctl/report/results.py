"""What a command did, as it hands it in to be shown; for several consumers, one entry each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.rules import Severity
from reshardctl.diagnosis.rules.base import Sifted
from reshardctl.errors import ReshardError
from reshardctl.exit import Exit
from reshardctl.model import Step
from reshardctl.planning.effects import has_unread, moment
from reshardctl.planning.plan import processed_frontier
from reshardctl.report.forecast import threatened
from reshardctl.report.report import Report, case_of


class Saved(Struct, frozen=True):
    """A plan file. digest: its SHA-256 in hexadecimal."""

    path: str
    digest: str


class Elsewhere(Struct, frozen=True):
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


class Planned(Struct, frozen=True):
    """A report whose decision is shown as what fix would write.

    dry_run: nothing is written afterwards; otherwise the plan is shown before consent is asked
    for. saved: the file that holds the plan, where there is one. how: the options that were given
    of those that say how to write.
    """

    report: Report
    dry_run: bool
    saved: Saved | None = None
    how: tuple[str, ...] = ()


class Fixed(Struct, frozen=True):
    """An applied plan. before: what it was made from; after: the rows as read back, judged.

    written: steps written now; recognised: steps that were in place already. typed: the journal as
    a command needs it: its name alone, where it lies in the usual directory.
    """

    before: Report
    after: Report
    steps: tuple[Step, ...]
    journal: str
    written: int
    recognised: int = 0
    typed: str = ""


class Undoing(Struct, frozen=True):
    """An undo, wanted or done. now: the rows before it, judged.

    after: the rows after it, judged; `None` where it leaves no position at all. written: `None`
    for a dry run. kept: what of the fix stays, a sentence each, where nothing else of its row goes
    back. of_plan: its journal is lost, `journal` names the plan's file. dry_run: as in `Planned`.
    typed: as in `Fixed`.
    """

    now: Report
    after: Report | None
    steps: tuple[Step, ...]
    journal: str
    written: int | None = None
    kept: tuple[str, ...] = ()
    of_plan: bool = False
    dry_run: bool = True
    typed: str = ""


class Entry(Struct, frozen=True):
    """One consumer. Exactly one of report and failure is there.

    name: as it is configured, or its locator. stream: as the operator names it. locator: `None` for
    a table or a stream that was looked for and could not be read. origin: file and line, `None`
    where no file names it. suggested_command: the arguments that name it in printed commands.
    report: without the findings that are suppressed, which are in `sifted`. asked: the name or ARN
    by which AWS is asked for the stream.
    """

    name: str
    stream: str
    locator: Locator | None
    suggested_command: tuple[str, ...]
    exit: Exit
    origin: tuple[str, int] | None = None
    report: Report | None = None
    failure: ReshardError | None = None
    sifted: Sifted = field(default_factory=Sifted)
    asked: str = ""

    @property
    def hidden(self) -> Report | None:
        """The report with the suppressed findings alone, to show them as any other."""
        if self.report is None:
            return None
        return replace(self.report, findings=tuple(finding for finding, _ in self.sifted.hidden))


class Searched(Struct, frozen=True):
    """Where consumers were looked for.

    Attributes:
        streams: Number of streams.
        tables: Number of tables, of whatever program.
        regions: Where the tables are.
        idle: Table with the key of a known library → what it holds in place of positions of these
            streams.
    """

    streams: int
    tables: int
    regions: tuple[str, ...]
    idle: tuple[tuple[str, str], ...] = ()


class Roundup(Struct, frozen=True):
    """All of them, in the order of the file.

    again: the arguments of the whole command. searched: where they were looked for, if they were
    not named.
    """

    entries: tuple[Entry, ...]
    exit: Exit
    again: tuple[str, ...] = ()
    searched: Searched | None = None

    def streams(self) -> Mapping[str, list[Entry]]:
        """Stream → its consumers."""
        streams: dict[str, list[Entry]] = {}
        for entry in self.entries:
            streams.setdefault(entry.stream, []).append(entry)
        return streams

    def counts(self) -> dict[str, int]:
        """Findings of each severity, in all of them; suppressed ones are not counted."""
        counts = dict.fromkeys((str(s) for s in reversed(Severity)), 0)
        for report in self.reports():
            for severity, number in report.counts().items():
                counts[severity] += number
        return counts

    def reports(self) -> Iterable[Report]:
        """Of those that could be judged."""
        return (entry.report for entry in self.entries if entry.report is not None)

    def suppressed(self) -> int:
        """How many findings are suppressed."""
        return sum(len(entry.sifted.hidden) for entry in self.entries)

    def unjudged(self) -> list[Entry]:
        """Those of which nothing can be told."""
        return [entry for entry in self.entries if entry.failure is not None]


class ConsumerFix(Struct, frozen=True):
    """What came of one consumer.

    report: what its plan was made from; `None` if it could not be judged. fixed: what was written.
    failure: why nothing was written, or not everything. exit: of a `fix` of this consumer alone.
    """

    name: str
    stream: str
    report: Report | None
    fixed: Fixed | None
    failure: ReshardError | None
    exit: Exit


class Fixes(Struct, frozen=True):
    """What came of several consumers, in the order in which they were named.

    exit: the worst of all. saved: the file that holds all plans, if one was named.
    """

    consumers: tuple[ConsumerFix, ...]
    exit: Exit
    dry_run: bool
    saved: Saved | None


def taken_up(report: Report) -> tuple[int, int]:
    """How many open shards have a position, of how many there are."""
    lineage = report.snapshot.lineage
    opened = list(lineage.open_shards())
    return sum(shard in report.positions for shard in opened), len(opened)


def loss_begins(report: Report) -> float | None:
    """Unix seconds at which the first unread record that a finding is about expires.

    `None` where none does, or where all have expired.
    """
    lost = threatened(report.findings, report.snapshot.now)
    begins = [f.deadline.starts for f in lost if f.deadline and f.deadline.starts is not None]
    return min(begins, default=None)


def behind(report: Report) -> float | None:
    """Seconds since the oldest record that may be unread was written, at most.

    Computed from the times in the stored sequence numbers, so that a shard that was read to its
    end counts as well: no store records that it is drained. `None` where nothing is unread or no
    time is known.
    """
    if not report.judged:
        return None
    case = case_of(report.snapshot, report.options)
    unread = [
        (shard, span.lo) for shard, span in processed_frontier(case).items()
        if has_unread(case.state, shard, span.lo)
    ]
    times = [moment(case.state, shard, cut) for shard, cut in unread]
    known = [time for time in times if time is not None]
    return max(0.0, report.snapshot.now - min(known)) if known else None
