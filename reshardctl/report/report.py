"""Makes a report: findings joined with the plan that mends them.

The same snapshot gives the same report.

A start option with a time in the future is refused. GetShardIterator answers such a time with
InvalidArgumentException: "The timestampInMillis parameter cannot be greater than the
currentTimestampInMillis". No library waits until it has passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reshardctl.auditing.sink_frontier import SinkFrontier
from reshardctl.codec.argv import words
from reshardctl.consumers.base import Consumer, Incarnation
from reshardctl.consumers.registry import consumer_of
from reshardctl.consumers.sequence_numbers import to_come
from reshardctl.consumers.spec import Options
from reshardctl.diagnosis.evidence import (
    Earlier,
    Foreign,
    Snapshot,
    Whose,
    alike_words,
    foreign_streams,
    located,
    naming,
    of_alike_stream,
    unverified,
    whose,
    without_position,
)
from reshardctl.diagnosis.rules import Finding, Severity, View, fails, findings, merged
from reshardctl.errors import EmptyCheckpoint, UsageError, command_line
from reshardctl.exit import Exit
from reshardctl.lineage import Lineage
from reshardctl.model import Cause, Cut, Interval, Rank, ShardId, WillRead, short
from reshardctl.model.phrases import listed
from reshardctl.model.times import instant
from reshardctl.planning.case import parsed
from reshardctl.planning.crashes import beside_the_crash
from reshardctl.planning.decision import Answer, nothing_left
from reshardctl.planning.effects import Harm, StreamState
from reshardctl.planning.plan import (
    CREATION_TIME,
    Ask,
    Case,
    Decision,
    Judged,
    Plan,
    Planner,
    bootstrap,
    decide,
    processed_frontier,
)
from reshardctl.planning.policy import LOSSLESS, Accept, Policy
from reshardctl.planning.rebuild import rebuilt
from reshardctl.report.counts import (
    by_probes,
    counted_decision,
    counted_findings,
    counted_judged,
    intervals,
)
from reshardctl.report.own_rows import (
    contradicting,
    doubt_beside_others,
    doubt_of,
    left_alone,
    require_own,
)
from reshardctl.report.scope import ScopeOptions, part


def refuse_future(consumer: Consumer, options: Options, lineage: Lineage) -> None:
    """UsageError for a start time that is later than the listing; the clocks may differ."""
    for option, time in consumer.start_times(options).items():
        if to_come(lineage, time):
            raise UsageError(
                f"{option}: a time in the future, which Kinesis refuses; it was "
                f"{instant(lineage.stream.as_of)} when the stream was listed",
                "give a time that has passed, as the application is configured with",
            )


NAMED = 5
"""Shards that a note names before it counts the rest."""


class RepairOptions(Struct, frozen=True):
    """What the operator asks for. created: the creation time that `--recreated` names."""

    policy: Policy = LOSSLESS
    accept: Accept | None = None
    """The given limit; `None`: the cost is asked about when the plan is written."""
    bootstrap: bool = False
    recreated: float | None = None
    count: bool = False
    """Whether the records of every effect are counted."""
    line: SinkFrontier | None = None
    """The frontier that a sink proves; it is wanted whatever the store holds."""
    created: float | None = None
    """The creation time that `--created` names: the positions belong to that stream."""
    earlier: Mapping[Whose, Earlier] = field(default_factory=dict)
    """Earlier readings of these or other rows."""
    scope: ScopeOptions | None = None
    """The part that is judged and repaired; `None` for all."""
    files: tuple[str, ...] = ()
    """The words that name the files from which the stream and the rows come."""
    redacted: bool = False
    """Whether the names are those of a redacted snapshot, so that no store has them."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes made when the options were read."""
        return (*(self.line.notes if self.line is not None else ()), *self.policy.notes)


class WayOut(Struct, frozen=True):
    """A command for an interrupted fix or undo: what it does, and its words."""

    what: str
    words: tuple[str, ...]


class Interrupted(Struct, frozen=True):
    """A fix or an undo that was begun: what became of it, and how to go on, if nobody writes it."""

    what: str
    ways: tuple[WayOut, ...] = ()

    @property
    def note(self) -> str:
        """The same in a sentence. No command is at its end, where the full stop would be copied."""
        ways = [f"{command_line('reshardctl', *way.words)} {way.what}" for way in self.ways]
        return self.what + (f": {', and '.join(ways)}" if ways else "")


class Report(Struct, frozen=True):
    """One consumer, judged. decision: what fix would do; positions: as the store spells them."""

    snapshot: Snapshot
    options: RepairOptions
    incarnation: Incarnation
    judged: tuple[Judged, ...]
    findings: tuple[Finding, ...]
    decision: Decision
    positions: Mapping[ShardId, str]
    notes: tuple[str, ...]
    already: Mapping[str, frozenset[ShardId]] | None = None
    """Of a forecast: shards by code that have the finding already, without the reshard."""
    caveats: tuple[str, ...] = ()
    """Those of the notes without which the report would be misread: that another release is judged
    than the named one, or another client than the one that wrote the rows, or a part only, or that
    nothing proves whose the positions are."""
    background: frozenset[str] = frozenset()
    """Those of the notes that hold of the library whatever is wrong, or tell how a plan is made."""
    left_out: tuple[Finding, ...] = ()
    """Findings outside the scope; they do not count."""
    unlimited: Decision | None = None
    """The decision if any cost were accepted, where `--yes` took what needs no question."""
    pace: str = ""
    """When unread records of a running consumer expire if it goes on as two looks saw it."""

    interrupted: tuple[Interrupted, ...] = ()
    """What to do about a fix or an undo of these rows that was not finished, best first."""
    foreign: Mapping[ShardId, Foreign] = field(default_factory=dict)
    """The shards whose stored numbers are not this stream's."""
    doubt: str = ""
    """Why the positions may be another stream's, as a sentence; "" where something shows whose they
    are."""

    def exit(self, failed: bool) -> Exit:
        """The exit code of what only reads. failed: whether a finding counts."""
        if failed:
            return Exit.FINDINGS
        return Exit.OK if self.snapshot.verified else Exit.UNKNOWN

    @property
    def nothing_left(self) -> bool:
        """Whether a `fix` with this decision has left nothing to repair."""
        policy = self.options.policy
        return nothing_left(
            self.decision, errors=any(fails(finding, policy.name) for finding in self.findings),
            asked_more=policy.skips or self.options.line is not None or self.options.bootstrap,
        )

    def counts(self) -> dict[str, int]:
        """Number of findings of each severity."""
        return {
            str(s): sum(f.severity is s for f in self.findings) for s in reversed(Severity)
        }


def make(snapshot: Snapshot, repair_options: RepairOptions) -> Report:
    """Judge a snapshot; raises EmptyCheckpoint, WrongStream, UsageError."""
    case = case_of(snapshot, repair_options)
    consumer, lineage = case.consumer, snapshot.lineage
    checkpoint = case.checkpoint()
    if consumer.empty(checkpoint):
        return _of_empty(snapshot, repair_options, case)
    origins = case.origins(checkpoint)
    texts = consumer.texts(checkpoint)
    foreign = foreign_streams(snapshot, origins, texts)
    with located(snapshot.locator):
        with naming(foreign):
            incarnation = case.incarnation(checkpoint)
        if (row := of_alike_stream(snapshot, foreign, texts)) is not None:
            raise consumer.wrong_stream(checkpoint, row, alike_words(snapshot, foreign[row]))
        contradictions = contradicting(case, checkpoint, incarnation)
        require_own(snapshot, repair_options.recreated, case, checkpoint, contradictions)
    starts = Planner(replace(case, policy=LOSSLESS))
    judged, processed, want = starts.now, starts.processed, starts.want
    anomalies = consumer.anomalies(lineage, checkpoint)
    recreated = incarnation is Incarnation.RECREATED and repair_options.recreated is None
    merged_findings = merged({
        _label(case, j): findings(View(
            case.state, processed, j.simulation,
            (*j.effects, *beside_the_crash(case.state, want, processed, j.simulation)),
            anomalies, recreated, snapshot.watched, repair_options.earlier.get(whose(snapshot)),
            foreign=foreign,
        ))
        for j in judged
    })
    positions = consumer.positions(checkpoint)
    parted = part(repair_options.scope, merged_findings, {*lineage, *positions})
    decision = decide(replace(case, scope=parted.scope), starts)
    caveats = (
        *case.caveats, *consumer.caveats(checkpoint),
        *_of_scope(repair_options.scope, len(parted.left_out), decision), *unverified(snapshot),
        *left_alone(case, checkpoint, processed, decision),
        *_lost_already(parted.kept, decision),
    )
    notes = dict.fromkeys(note for j in judged for note in j.simulation.notes)
    if isinstance(decision, Plan):
        notes |= dict.fromkeys(decision.notes)
    counts = {**by_probes(snapshot.probes), **snapshot.counts}
    report = Report(
        snapshot, repair_options, incarnation, counted_judged(judged, counts),
        counted_findings(parted.kept, counts), counted_decision(decision, counts), positions,
        (*caveats, *repair_options.notes, *_unanswered(snapshot), *notes),
        caveats=caveats, background=frozenset(notes), left_out=parted.left_out, foreign=foreign,
        doubt=doubt_of(
            snapshot, repair_options.recreated, incarnation, contradictions, len(positions)
        ) or doubt_beside_others(case, checkpoint, foreign, decision),
    )
    if report.doubt and isinstance(decision, Plan) and repair_options.created is None:
        asks = f"{report.doubt}. fix asks for --created {CREATION_TIME}"
        report = replace(report, notes=(*report.notes, asks))
    lineage.memo.forget()  # a report of many lives long, and nobody asks for the runs of its plans
    return report


def _lost_already(kept: Iterable[Finding], decision: Decision) -> Iterator[str]:
    """What a plan that ends a crash at shards that have expired cannot bring back."""
    lost = sorted({
        short(effect.shard) for finding in kept for effect in finding.effects
        if effect.gone and effect.shard and {e.harm for e in finding.effects} >= {Harm.CRASHES}
    })
    if lost and isinstance(decision, Plan):
        are, them = ("is", "it") if len(lost) == 1 else ("are", "them")
        yield (
            f"{listed(lost, NAMED)} {are} not listed any more: what was not read of {them} is "
            "lost, with this plan and without it"
        )


def _of_scope(
    options: ScopeOptions | None, left_out: int, decision: Decision
) -> Iterator[str]:
    """What a part of a report leaves out, and what its plan adds."""
    if options is None:
        return
    outside = f"; {left_out} other finding{'' if left_out == 1 else 's'} left out"
    yield f"limited to {' '.join(words(options))}{outside if left_out else ''}"
    for more in decision.added if isinstance(decision, Plan) else ():
        yield f"{more.shard} is written too, as {more.why}"


def _unanswered(snapshot: Snapshot) -> Iterator[str]:
    """The note on probes that neither found a record nor an end."""
    silent = [short(shard) for shard, probe in snapshot.probes.items() if probe.silent]
    if silent:
        yield (
            f"the reads allowed showed neither a record nor an end in {listed(silent, NAMED)}: "
            "nothing is concluded there; --probe-budget allows more"
        )


def own(snapshot: Snapshot) -> Snapshot:
    """The snapshot without the rows of other applications."""
    case = case_of(snapshot, RepairOptions())
    others = case.consumer.others(case.checkpoint())
    kept = tuple(image for image in snapshot.images if image.key not in others)
    return replace(snapshot, images=kept)


def case_of(snapshot: Snapshot, repair_options: RepairOptions) -> Case:
    """The case that a snapshot poses. UsageError for options that are not its consumer's."""
    consumer = consumer_of(snapshot.locator)
    with located(snapshot.locator):
        checkpoint = parsed(snapshot.lineage, consumer, snapshot.images)
        candidates = consumer.candidates(checkpoint, snapshot.locator.options)
    refuse_future(consumer, snapshot.locator.options, snapshot.lineage)
    return Case(
        consumer,
        StreamState(
            snapshot.lineage, snapshot.now, snapshot.probes, repair_options.policy.since,
            repair_options.policy.places,
        ),
        snapshot.images, candidates, repair_options.policy, repair_options.accept,
        recreated=repair_options.recreated is not None, bootstrap=repair_options.bootstrap,
        line=None if repair_options.line is None else repair_options.line.spans,
    )


def places_to_probe(report: Report) -> list[tuple[ShardId, Cut]]:
    """Unread positions where a bounded read may turn a guess into a fact, each once.

    Those of effects come first, then every closed shard that has not ended: a read shows whether
    anything is left in it.
    """
    case = case_of(report.snapshot, report.options)
    lineage = report.snapshot.lineage
    wanted = LOSSLESS.frontier(lineage, processed_frontier(case))
    harmed = {
        e.shard for j in report.judged for e in j.effects
        if e.shard in lineage and e.harm in (Harm.STALLED, Harm.SKIPPED)
    } | {s for j in report.judged for e in j.effects if e.harm is Harm.CRASHES for s in e.by}
    ending = {
        shard for j in report.judged for shard, fate in j.simulation.fates.items()
        if isinstance(fate, WillRead) and fate.cause in (Cause.POSITION, Cause.UNMARKED)
        and shard in lineage and not lineage.is_open(shard)
    }
    ordered = [*(s for s in lineage if s in harmed), *(s for s in lineage if s in ending - harmed)]
    return [(s, wanted[s]) for s in ordered if askable(wanted[s])]


def intervals_to_count(report: Report) -> list[Interval]:
    """The intervals of the report's effects."""
    return intervals(report.snapshot.lineage, report.judged, report.decision)


def askable(cut: Cut) -> bool:
    """Whether a read can begin at the cut."""
    return cut.rank in (Rank.START, Rank.INSIDE) and not (cut.by_time and cut.time is None)


def _of_empty(snapshot: Snapshot, repair_options: RepairOptions, case: Case) -> Report:
    if not repair_options.bootstrap and repair_options.line is None:
        whose = sorted(set(case.consumer.others(case.checkpoint()).values()))
        known = f"; positions of {listed(whose, NAMED)} are there" if whose else ""
        files = repair_options.files
        argv = (snapshot.locator.text, *files) if files else snapshot.words
        lost = command_line("reshardctl", "rebuild", *snapshot.words, "--from", "SINK", "--dry-run")
        new = command_line("reshardctl", "fix", "--dry-run", "--bootstrap", *argv)
        raise EmptyCheckpoint(
            f"{without_position(snapshot)}{known}",
            f"check name, account and region. If it lost its positions: {lost}; if it is new: "
            f"{new}",
        )
    begin = decide if case.policy.names_shards else bootstrap
    first = begin(case) if repair_options.line is None else rebuilt(case)
    decision = counted_decision(first, snapshot.counts)
    planned = decision.notes if isinstance(decision, Plan) else ()
    notes = (*case.caveats, *repair_options.notes, *planned)
    doubt = doubt_of(snapshot, repair_options.recreated, Incarnation.SAME, {}, 0)
    return Report(
        snapshot, repair_options, Incarnation.SAME, (), (), decision, {}, notes,
        caveats=case.caveats, doubt=doubt,
    )


def _label(case: Case, judged: Judged) -> str:
    """The options in which this candidate differs from the others, "" if it is the only one."""
    options = judged.candidate.options
    differing = [
        name for name in options
        if len({c.options[name] for c in case.candidates}) > 1
    ]
    return ", ".join(f"{name}={options[name]}" for name in differing)


def question(report: Report, ask: Ask) -> str:
    """The options to give before anything can be planned, with the library's default."""
    if ask.options == ("recreated",):
        return (
            f"--recreated {CREATION_TIME}, if it was: the stream's creation time as "
            "aws kinesis describe-stream-summary tells it"
        )
    text = report.snapshot.locator.text
    alternatives = " or ".join(f"'{told(text, answer)}'" for answer in ask.answers)
    usual = " and ".join(ask.defaults.values())
    are = "are the library's defaults" if len(ask.defaults) > 1 else "is the library's default"
    return f"{alternatives} ({usual} {are})" if usual else alternatives


def told(locator: str, answer: Answer) -> str:
    """The locator with an answer in place of what it says of the same options."""
    place, _, query = locator.partition("?")
    given = [f"{name}={value}" for name, value in answer]
    names = {name for name, _ in answer}
    kept = [part for part in query.split("&") if part and part.partition("=")[0] not in names]
    return f"{place}?{'&'.join([*kept, *given])}"
