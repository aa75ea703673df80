"""Carrying out a plan: watch, prove it again on fresh state, write, and look whether it held."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.diagnosis.report import (
    Report,
    Wishes,
    case_of,
    intervals_to_count,
    make,
    places_to_probe,
)
from reshardctl.errors import ConsumerRunning, HalfDone, Refused, StalePlan, UsageError
from reshardctl.execution import plan_file as savedplan
from reshardctl.execution.apply import Applied, apply, resume
from reshardctl.execution.plan_file import SavedPlan, broken, promises
from reshardctl.journal import Journal, Records
from reshardctl.model import Change, Image, Step, Update, after, ahead
from reshardctl.planning.live_writes import require_live
from reshardctl.planning.plan import Nothing, Plan, judge, settled_line
from reshardctl.planning.policy import LOSSLESS
from reshardctl.snapshot import Stream, counted, probed, take
from reshardctl.snapshot.resolve_policy import resolved, with_ends
from reshardctl.stores.base import Medium


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything outside. clock: Unix seconds; sleep: waits; interrupted: someone said stop."""

    kinesis: Stream
    medium: Medium
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    interrupted: Callable[[], bool] = lambda: False


def survey(
    ports: Ports, stream: str, locator: Locator, wishes: Wishes, probe: bool = False
) -> Report:
    """Read and judge. With `probe`, bounded reads settle what they can, and it is judged again.

    A policy by time comes back resolved to numbers, in the report's wishes.
    """
    snapshot = take(ports.kinesis, ports.medium, stream, locator, ports.clock)
    return _judged(ports.kinesis, snapshot, wishes, probe)


def _judged(kinesis: Stream, snapshot: Snapshot, wishes: Wishes, probe: bool) -> Report:
    if wishes.policy.unresolved:
        make(snapshot, replace(wishes, policy=LOSSLESS))  # no record is read of a wrong table
        wishes = replace(wishes, policy=resolved(wishes.policy, snapshot, kinesis))
    if probe and wishes.bootstrap:
        wishes = replace(wishes, policy=with_ends(wishes.policy, snapshot, kinesis))
    report = make(snapshot, wishes)
    if probe and (places := places_to_probe(report)):
        report = make(probed(snapshot, kinesis, places), wishes)
    if wishes.count and (intervals := intervals_to_count(report)):
        report = make(counted(report.snapshot, kinesis, intervals), wishes)
    return report


def watch(ports: Ports, locator: Locator, seconds: float) -> str:
    """Read twice, so many seconds apart. Returns what the silence rules out.

    Raises ConsumerRunning if anything moved, and UsageError where the silence of so many seconds
    would rule out nothing. A store in which nothing could move is not waited for.
    """
    consumer = consumer_of(locator)
    if not consumer.spec.watchable:
        return _switched_off(ports, consumer, seconds)
    first = consumer.signs_of_life(ports.medium.read())
    if not first:
        return "nothing in the store has an owner"
    _require_enough(first, seconds, consumer.watch_needed(locator.options))
    ports.sleep(seconds)
    second = consumer.signs_of_life(ports.medium.read())
    moved = sorted(key for key in second if second[key] != first.get(key))
    if moved:
        named = ", ".join(moved[:3]) + (f" and {len(moved) - 3} more" if len(moved) > 3 else "")
        raise ConsumerRunning(
            f"the consumer is running: in {seconds:g} s {len(moved)} of {len(first)} watched "
            f"rows moved ({named})",
            "stop every process of it, wait until its rows are still, and run this again",
        )
    return consumer.excluded_by(seconds)


def _require_enough(signs: Collection[str], seconds: float, needed: float) -> None:
    """UsageError unless rows like these would have moved in that time if somebody ran."""
    if seconds < needed:
        named, least = ", ".join(sorted(signs)[:3]), f"{math.ceil(needed)}s"
        raise UsageError(
            f"a watch of {seconds:g} s is too short: {named} may stand still for that long while "
            f"the consumer runs; the least is {least}",
            f"--watch {least}, or --assume-stopped if you know that it is stopped",
        )


def _switched_off(ports: Ports, consumer: Consumer, seconds: float) -> str:
    """Of a store that tells no life, but perhaps that the consumer is switched off."""
    images = ports.medium.read()
    switch = consumer.switch(images)
    if switch is None:
        raise Refused(
            "nothing in this store tells whether the consumer runs: a quiet one leaves no trace",
            "stop every process of it, make sure of it where they run, and add --assume-stopped",
        )
    if switch.on:
        raise Refused(switch.refusal, switch.next)
    ports.sleep(seconds)
    again = ports.medium.read()
    later = consumer.switch(again)
    moved = sorted({row.key for row in images} ^ {row.key for row in again}) or [
        new.key for old, new in zip(images, again, strict=True) if old != new
    ]
    if moved or later != switch:
        raise ConsumerRunning(
            f"in {seconds:g} s rows of the store moved: {', '.join(moved[:3])}",
            "something publishes still, or was switched on: wait, and run this again",
        )
    return switch.excluded


def carry_out(
    ports: Ports, plan: SavedPlan, locator: Locator, journal: Journal, live: bool = False
) -> Applied:
    """Write the plan's steps, each proven on what is there now.

    live: the consumer may be running, so rows may be renewed and read on meanwhile.
    """
    def check(images: list[Image]) -> list[Step]:
        fresh = _proven_again(ports, plan, locator, images, live)
        if live:
            require_live(fresh)
        return fresh

    return apply(
        plan.steps, ports.medium, journal, check=check, interrupted=ports.interrupted,
        renewing=_renewing(locator, live),
    )


def _renewing(locator: Locator, live: bool) -> frozenset[str]:
    """What a worker that keeps its row changes; one that lost or took it is another matter."""
    consumer = consumer_of(locator)
    return consumer.spec.moving - consumer.spec.owners if live else frozenset()


def _proven_again(
    ports: Ports, plan: SavedPlan, locator: Locator, images: list[Image], live: bool
) -> list[Step]:
    """The same plan made on fresh state, or StalePlan saying what has changed."""
    again = "make a new plan: reshardctl fix --dry-run"
    lineage = ports.kinesis.lineage(plan.stream)
    if lineage.stream.created != plan.created:
        raise StalePlan("the plan is stale: the stream was deleted and made again since", again)
    if dict(ports.medium.identity()) != dict(plan.store):
        raise StalePlan("the plan is stale: the store is another one than it was made for", again)
    fresh = Snapshot(locator, lineage, tuple(images), plan.store, ports.clock())
    report = _judged(ports.kinesis, fresh, replace(plan.wishes, count=False), plan.probe)
    if moved := _footprint_moved(fresh, plan, live):
        raise StalePlan(f"the plan is stale: {', '.join(moved[:3])} changed since", again)
    decision = report.decision
    if not isinstance(decision, Plan):
        what = "nothing is left to do" if isinstance(decision, Nothing) else "it cannot be made now"
        raise StalePlan(f"the plan is stale: on the rows as they are now {what}", again)
    owners = locator.spec.owners if live else frozenset()
    if changed := _differences(plan.steps, decision.steps, owners):
        raise StalePlan(f"the plan is stale: {'; '.join(changed[:3])}", again)
    if len(plan.promised) != len(decision.after):
        raise StalePlan("the plan is stale: the rows speak of another release now", again)
    for promised, found in zip(plan.promised, decision.after, strict=True):
        if worse := broken(promised, promises(found)):
            harm, shard, _ = worse[0]
            raise StalePlan(f"the plan is stale: {shard or 'the consumer'} would be {harm}", again)
    return list(decision.steps)


def _footprint_moved(fresh: Snapshot, plan: SavedPlan, live: bool) -> list[str]:
    """What the proof rests on and has changed. Rows that are read on move: what they say now is
    proven anew, and only that they are there, and their parents, are to be as they were."""
    now = savedplan.footprint(fresh, plan.steps)
    named = sorted(now.keys() | plan.footprint)
    if live:
        named = [name for name in named if not name.startswith("row ")]
    return [name for name in named if now.get(name) != plan.footprint.get(name)]


def _differences(
    old: Sequence[Step], new: Sequence[Step], owners: frozenset[str] = frozenset()
) -> list[str]:
    """In words, how two plans differ in what they write. owners: attributes that may be removed
    in one of them only, because someone has taken a row, or let go of it, since."""
    was = {w.key: w for step in old for w in step.writes}
    now = {w.key: w for step in new for w in step.writes}
    return [
        *(f"{key} needs no write any more" for key in sorted(was.keys() - now.keys())),
        *(f"{key} needs a write too" for key in sorted(now.keys() - was.keys())),
        *(
            f"{key} would be written differently"
            for key in sorted(was.keys() & now.keys())
            if _apart_from(owners, was[key].change) != _apart_from(owners, now[key].change)
        ),
    ]


def _apart_from(owners: frozenset[str], change: Change) -> Change:
    if not owners or not isinstance(change, Update):
        return change
    return replace(change, remove=tuple(name for name in change.remove if name not in owners))


def verify(
    ports: Ports, plan: SavedPlan, locator: Locator, journal: Journal
) -> Report:
    """Read and judge again: the next plan must not write what this one wrote.

    That it is empty was proven before the first write. What it writes elsewhere is of shards that
    were left alone, or has come to be since: the report says it.
    """
    wishes = replace(plan.wishes, bootstrap=False, recreated=None)
    if plan.wishes.recreated is not None:
        wishes = plan.wishes
    report = survey(ports, plan.stream, locator, wishes, plan.probe)
    if isinstance(report.decision, Plan) and not _elsewhere(plan, report.decision):
        titles = ", ".join(step.title for step in report.decision.steps[:3])
        journal.failed(f"the next plan is not empty: {titles}")
        raise HalfDone(
            f"everything was written, but there is more to do now: {titles}",
            f"reshardctl inspect, then fix again, or reshardctl undo {journal.path}",
            str(journal.path),
        )
    journal.verified()
    return report


def _elsewhere(plan: SavedPlan, more: Plan) -> bool:
    written = {write.key for step in plan.steps for write in step.writes}
    return written.isdisjoint(write.key for step in more.steps for write in step.writes)


def _past_barriers(steps: list[Step], images: list[Image]) -> list[Step]:
    """The same steps, those free to go that waited for a row which is there by now."""
    there = {image.key for image in images}
    return [replace(step, barrier="") if step.barrier in there else step for step in steps]


def go_on(
    ports: Ports, plan: SavedPlan, locator: Locator, journal: Journal, records: Records,
    live: bool = False,
) -> Applied:
    """Finish what a journal began: the mixed state and the rest of the steps are replayed first."""
    def check(images: list[Image], rest: list[Step]) -> list[Step]:
        lineage = ports.kinesis.lineage(plan.stream)
        rows = tuple(after(images, ahead(_past_barriers(rest, images))))
        now = Snapshot(locator, lineage, tuple(images), plan.store, ports.clock())
        if plan.probe:  # what the plan rests on, read again
            now = _judged(ports.kinesis, now, replace(plan.wishes, count=False), True).snapshot
        case = case_of(replace(now, images=rows), plan.wishes)
        settled = settled_line(case, images)
        want = plan.wishes.policy.line(lineage, settled)
        judged = judge(case, want, settled)
        for promised, one in zip(plan.promised, judged, strict=False):
            if worse := broken(promised, promises(one.effects)):
                harm, shard, _ = worse[0]
                raise StalePlan(
                    f"going on would leave {shard or 'the consumer'} {harm}, which the plan did "
                    "not show", f"reshardctl undo {journal.path}   # then plan again",
                )
        if live:
            require_live(rest)
        return rest

    spec = locator.spec
    return resume(
        journal, records, ports.medium, check=check, interrupted=ports.interrupted,
        moving=spec.moving, renewing=_renewing(locator, live), identity_rows=spec.identity_rows,
    )

