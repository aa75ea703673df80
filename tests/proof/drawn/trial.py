"""One state through the core and through the library: everything that does not hold."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.consumers.sequence_numbers import CLOCKS_APART
from reshardctl.diagnosis.rules import Finding, Severity
from reshardctl.errors import ReshardError
from reshardctl.execution.undo import undo_steps
from reshardctl.journal import Header, Journal, read
from reshardctl.model import (
    DONE,
    Basis,
    Cut,
    Fate,
    Frontier,
    Image,
    Rank,
    ShardId,
    Simulation,
    Step,
    Update,
    WillRead,
    WontRead,
    Write,
    at_number,
    decode,
    writes_of,
)
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import Decision, NoSafePlan, Nothing, Plan, processed_frontier
from reshardctl.planning.restore import Restore
from reshardctl.planning.starts import Starts
from reshardctl.planning.writes import rebase
from tests.contracts.memory_store import MemoryStore
from tests.proof.drawn.states import State
from tests.support.judging import Bench, delivered
from tests.support.own_folders import in_memory
from tests.support.plans import apply

ACCEPTED = "reread=2400h,disorder"
SERIOUS = (Harm.SKIPPED, Harm.STALLED, Harm.CRASHES)
Delivered = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Seen:
    """What a start of the library showed. uncertain: the run itself was disturbed. keep: records
    the start, once it is known that it was not. left: the rows that it left, `None` if unknown."""

    delivered: Delivered
    died: bool
    uncertain: str = ""
    keep: Callable[[], None] = lambda: None
    left: tuple[Image, ...] | None = None


Judge = Callable[[State, list[Image]], Seen]
Fix = Callable[[State, Decision], tuple[Step, ...]]


@dataclass(frozen=True)
class Violation:
    """kind: which property; what: expected against seen."""

    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


@dataclass
class Verdict:
    """Of one state. decision: its kind, or the refusal's."""

    decision: str
    violations: list[Violation] = field(default_factory=list)
    starts: int = 0
    uncertain: int = 0


def steps_of(_state: State, decision: Decision) -> tuple[Step, ...]:
    """What `fix` writes."""
    return decision.steps if isinstance(decision, Plan) else ()


def bench_of(state: State, images: list[Image]) -> Bench:
    """These rows, as the core gets them."""
    return Bench.on(state.case, images, dict(state.options), accept=ACCEPTED)


def examine(state: State, judge: Judge, fix: Fix = steps_of) -> Verdict:
    """Unrepaired, repaired and undone. A refusal has to be on purpose, and is not held to be wrong.
    """
    try:
        bench = bench_of(state, state.images)
        decision = bench.decide()
        findings = bench.findings()
    except ReshardError as refused:
        return Verdict(type(refused).__name__)
    except Exception as error:
        return Verdict("error", [Violation("error", f"{type(error).__name__}: {error}")])
    verdict = Verdict(type(decision).__name__)
    verdict.violations += _pointed_at(decision, findings)
    before = judge(state, state.images)
    verdict.starts += 1
    verdict.uncertain += bool(before.uncertain)
    if before.uncertain:
        return verdict
    verdict.violations += _forecast("forecast", state, bench, before)
    if not isinstance(decision, Plan | Nothing):
        if not verdict.violations:
            before.keep()
        return verdict
    steps = fix(state, decision)
    after, last = before, bench
    between: list[Seen] = []
    if isinstance(decision, Plan):
        last = bench_of(state, bench.after(steps))
        after = judge(state, list(last.plan_case.images)) if steps else before
        verdict.starts += bool(steps)
        verdict.uncertain += bool(after.uncertain)
        if after.uncertain:
            return verdict
        verdict.violations += _undo(state, steps)
        verdict.violations += _not_ours(bench, last)
        between = [judge(state, bench.after(steps[:count])) for count in range(1, len(steps))]
        verdict.violations += _half_way(state, between, _but_for_doubts(before, bench))
        verdict.violations += _repaired(state, bench, decision, last, before, after)
        findings = last.findings()
    verdict.violations += _again(state, after)
    verdict.violations += _silent(state, after, findings, {r.shard for r in decision.residuals})
    if not verdict.violations:
        for seen in (before, after, *between):
            seen.keep()
    return verdict


def _pointed_at(decision: Decision, findings: Iterable[Finding]) -> Iterator[Violation]:
    """Who is sent to a finding for what helps finds one."""
    if not isinstance(decision, NoSafePlan) or not any("see the" in w for w in decision.ways_out):
        return
    if not any(finding.severity >= Severity.WARNING for finding in findings):
        yield Violation("no finding", decision.why)


def _not_ours(before: Bench, after: Bench) -> Iterator[Violation]:
    """A row whose number Kinesis refuses in the shard that it names is another stream's.

    FakeKinesis refuses a number whose epoch the shard never had, and a case's shards keep theirs.
    Of a shard that is not listed any more it says only that there is none: nobody can tell then.
    """
    case, consumer = before.case, before.plan_case.consumer
    was, now = (
        consumer.texts(bench.plan_case.checkpoint()) for bench in (before, after)
    )
    for shard, text in was.items():
        fields = decode(text)
        home = None if fields is None else case.topology.get(fields.shard)
        if fields is None or home is None or not home.listed:
            continue
        if fields.time > case.now + CLOCKS_APART:
            continue
        own = {decode(number) for number in (home.start, home.end) if number}
        if fields.epoch not in {one.epoch for one in own if one} and now.get(shard) != text:
            yield Violation("not ours", f"{shard}: {text} became {now.get(shard)}")


def _half_way(state: State, between: list[Seen], before: Seen) -> Iterator[Violation]:
    """A fix that was killed between two of its steps left nothing worse than it was."""
    for count, seen in enumerate(between, 1):
        if seen.uncertain:
            continue
        lost = list(worse(state, before, seen)) if not seen.died else []
        if seen.died and not before.died:
            lost = [Violation("half way", "it dies, and did not before")]
        for one in lost:
            what = f"behind {count} of {len(between) + 1} steps: {one.what}"
            yield Violation("half way", what)


def _but_for_doubts(before: Seen, bench: Bench) -> Seen:
    """Without the shards of which the forecast says that they may not be read without a fix either.

    Which of two leases a worker takes first is another thing at each start (kcl-1.15.3 60441).
    """
    doubted = {
        shard for simulation in bench.replays() for shard, fate in simulation.fates.items()
        if isinstance(fate, WillRead) and fate.possible
    }
    sure = {s: payloads for s, payloads in before.delivered.items() if s not in doubted}
    return dataclasses.replace(before, delivered=sure)


def _repaired(
    state: State, bench: Bench, decision: Decision, again: Bench, before: Seen, after: Seen
) -> Iterator[Violation]:
    yield from _forecast("forecast after fix", state, again, after)
    yield from _forgotten(bench, again)
    second = again.decide()
    if not isinstance(second, Nothing) and not _was_told(decision, second, again):
        yield Violation("next plan", f"it is not empty: {str(second)[:600]}")
    if after.died and not before.died:
        yield Violation("worse", "it dies after fix and did not before")
    if not after.died:
        yield from worse(state, before, after)
        yield from _cost(state, processed_frontier(bench.plan_case), decision, after)
        yield from more_often(state, decision, before, after)


def _forgotten(before: Bench, after: Bench) -> Iterator[Violation]:
    """What the rows show to be processed of a shard whose own row stays is shown after a plan, too:
    it may stand in another row, which the plan writes."""
    was, now = (processed_frontier(bench.plan_case) for bench in (before, after))
    old, new = (
        bench.plan_case.consumer.texts(bench.plan_case.checkpoint()) for bench in (before, after)
    )
    for shard, span in was.items():
        stays = shard in now and old.get(shard) == new.get(shard)
        if stays and span.basis is not Basis.INFERRED and now[shard].lo < span.lo:
            yield Violation("forgotten", f"{shard}: {span.lo} became {now[shard].lo}")


def _was_told(decision: Decision, second: Decision, again: Bench) -> bool:
    """Whether nothing more can be written, and the plan itself says what remains."""
    if not isinstance(decision, Plan) or not isinstance(second, NoSafePlan):
        return False
    case = again.plan_case
    told = {(e.harm, e.shard) for run in decision.after for e in run}
    found = [e for run in Starts(case).effects for e in run if case.calls_for_a_plan(e)]
    return all((e.harm, e.shard) in told for e in found)


def _forecast(kind: str, state: State, bench: Bench, seen: Seen) -> Iterator[Violation]:
    """Record by record. Where the forecast is a span, what comes lies between its bounds."""
    for simulation in bench.replays():
        crash = simulation.crash
        if crash is not None and not crash.certain:
            continue
        if (crash is not None) != seen.died:
            yield Violation(kind, f"crash {crash}, died {seen.died}")
            continue
        if seen.died:
            continue
        for shard, (most, least) in _bounds(state, bench, simulation).items():
            got = seen.delivered.get(shard, ())
            if not (len(least) <= len(got) <= len(most) and _tail(most, got)):
                said = str(list(most)) if most == least else f"{list(least)} to {list(most)}"
                yield Violation(kind, f"{shard}: forecast {said}, delivered {list(got)}")


def _tail(most: tuple[str, ...], got: tuple[str, ...]) -> bool:
    return most[len(most) - len(got) :] == got


def _bounds(
    state: State, bench: Bench, simulation: Simulation
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    lineage = bench.plan_case.state.lineage
    most = delivered(state.case, simulation, lineage)
    least = delivered(state.case, _latest(simulation), lineage)
    return {shard: (payloads, least[shard]) for shard, payloads in most.items()}


def _latest(simulation: Simulation) -> Simulation:
    """The same, each shard begun where it begins at the latest, or not at all where that may be."""
    fates: dict[ShardId, Fate] = {
        shard: WontRead(fate.cause, fate.possible) if fate.possible
        else replace(fate, at=replace(fate.at, lo=fate.at.hi))
        for shard, fate in simulation.fates.items() if isinstance(fate, WillRead)
    }
    return replace(simulation, fates={**simulation.fates, **fates})


def worse(state: State, before: Seen, after: Seen) -> Iterator[Violation]:
    """Nothing unread is lost that the start without the fix would have delivered.

    Of an application that starts at the tip, and never read a shard, nothing says what it left out
    on purpose: there only what comes from now on counts. Nor does anything tell that a place was
    set by hand to a later record: what lies before it is taken for read, as such a row says.
    """
    owed = state.owed()
    for shard, payloads in before.delivered.items():
        said = _said_to_be_read(state, shard) if shard in state.forged else ()
        unread = [
            p for p in payloads
            if p.startswith("n") or (p in owed.get(shard, ()) and p not in said)
        ]
        if lost := [p for p in unread if p not in after.delivered.get(shard, ())]:
            yield Violation("worse", f"{shard}: the fix loses {lost}")


def _said_to_be_read(state: State, shard: str) -> frozenset[str]:
    """Of a shard, what the application's rows say was read: its records up to the furthest one that
    they hold the number of; all of them, where its row is marked as finished."""
    order = [(payload, n) for n, payload, _ in state.case.records.get(shard, ())]
    # A renamed row is another application's.
    own = {key: row for key, row in state.own_rows.items() if not key.startswith("old-")}
    if any(_finished(row) for key, row in own.items() if key.endswith(shard)):
        return frozenset(payload for payload, _ in order)
    texts = json.dumps(own)
    last = max((i for i, (_, n) in enumerate(order) if n in texts), default=-1)
    return frozenset(payload for payload, _ in order[: last + 1])


def _finished(row: Mapping[str, Any]) -> bool:
    return "N" in row.get("Finished", {}) or row.get("checkpoint") == {"S": "SHARD_END"}


def _silent(
    state: State, after: Seen, findings: Iterable[Finding], left: set[ShardId]
) -> Iterator[Violation]:
    """Nothing unread at all is lost, unless the report names the shard, or nothing can tell."""
    every = list(findings)
    named = {shard for finding in every for shard in finding.shards} | left
    errors = [f for f in every if f.severity is Severity.ERROR]
    if any(not f.shards or any(e.harm is Harm.CRASHES for e in f.effects) for f in errors):
        return
    if after.died:
        yield Violation("silent", "it dies, and no finding says so")
        return
    for shard, owed in state.owed().items():
        missing = owed - set(after.delivered.get(shard, ()))
        if missing and shard not in state.forged and shard not in named:
            yield Violation("silent", f"{shard}: {sorted(missing)} unread, never come, no finding")


def _cost(
    state: State, processed: Frontier, decision: Decision, after: Seen
) -> Iterator[Violation]:
    """What the plan knows to be read comes again only where it says so."""
    shown = decision.after[0] if isinstance(decision, Plan) else ()
    for shard, payloads in after.delivered.items():
        span = processed.get(shard)  # type: ignore[call-overload]
        if span is None:
            continue
        stored = [p for p in payloads if not p.startswith("n")]
        again = [p for p in stored if _within(state, p, span.lo)]
        if hidden := [p for p in again if not _told(state, shown, shard, p)]:
            yield Violation("cost", f"{shard} gives {hidden} again, and no effect says so")


def _within(state: State, payload: str, cut: Cut) -> bool:
    if cut.rank is Rank.INSIDE and not cut.by_time:
        return int(state.case.number_of(payload)) <= cut.processed
    return cut == DONE


def more_often(
    state: State, decision: Decision, before: Seen, after: Seen
) -> Iterator[Violation]:
    """What was delivered once comes again after a fix and not without it only where it says so.

    Behind the furthest record of a shard that the application's rows hold the number of, nothing
    tells that any was read: rows from a backup are as honest rows were when it was made.
    """
    if before.died:
        return
    shown = decision.after[0] if isinstance(decision, Plan) else ()
    for shard, payloads in after.delivered.items():
        more = set(payloads) & state.read.get(shard, frozenset())
        more -= set(before.delivered.get(shard, ()))
        more &= _said_to_be_read(state, shard)
        hidden = sorted(p for p in more if not _told(state, shown, shard, p))
        if hidden:
            yield Violation("more often", f"{shard} gives {hidden} again, and no effect says so")


def _again(state: State, after: Seen) -> Iterator[Violation]:
    """After a fix and a start there is nothing more to write.

    But a shard without a record that kinsumer's start finished stays in the ShardCache while its
    leader's rounds fail, and would be read as a whole if it had one.
    """
    if after.left is None or after.died:
        return
    third = bench_of(state, list(after.left)).decide()
    if isinstance(third, Plan) and not all(map(_only_drops, writes_of(third.steps))):
        yield Violation("fix, start, fix", f"there is more to write: {str(third)[:600]}")


def _only_drops(write: Write) -> bool:
    """Whether the ShardCache gets fewer shards, and no other."""
    change = write.change
    if write.before is None or not isinstance(change, Update) or "ShardIDs" not in change.set:
        return False
    was, now = (row["ShardIDs"].get("L", ()) for row in (write.before.attributes, change.set))
    return all(shard in was for shard in now)


def _told(state: State, shown: Iterable[Effect], shard: str, payload: str) -> bool:
    cut = at_number(state.case.number_of(payload))
    return any(
        e.harm is Harm.CRASHES
        or (e.shard == shard and e.harm is Harm.REREAD
            and e.since < cut and (cut <= e.until or e.until.by_time))
        for e in shown
    )


def _undo(state: State, steps: tuple[Step, ...]) -> Iterator[Violation]:
    """Written into a medium through the journal and taken back: every attribute as it was, but for
    counters, which only grow, and owners, who may be gone."""
    consumer = CONSUMERS[state.consumer]
    spec = consumer.spec
    apart = spec.monotonic_counters | spec.owner_attributes
    medium = MemoryStore(state.images)
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        path = Path(folder) / "journal"
        header = Header("plan", "locator", dict(medium.identity()), {}, "lossless", "", "", steps)
        with Journal.create(path, header) as journal:
            apply(
                steps,
                medium,
                journal,
                check=lambda rows: rebase(steps, rows, spec.volatile_attributes),
            )
        restore = Restore.of(spec)
        now = {image.key: image for image in medium.read()}
        back = undo_steps(read(path), now, restore, spec.volatile_attributes)
        journal, _ = Journal.open(path)
        with journal:
            journal.begin_undo(back)
            apply(
                back,
                medium,
                journal,
                check=lambda rows: rebase(back, rows, spec.volatile_attributes),
            )
            journal.undone()
    was, is_now = _kept(state.images, apart), _kept(medium.read(), apart)
    for key in sorted(was.keys() | is_now.keys()):
        if was.get(key) != is_now.get(key):
            yield Violation("undo", f"{key}: {was.get(key)} came back as {is_now.get(key)}")


def _kept(images: Iterable[Image], apart: frozenset[str]) -> dict[str, dict[str, object]]:
    return {i.key: {n: v for n, v in i.attributes.items() if n not in apart} for i in images}
