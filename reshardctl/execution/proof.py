"""Checks that a plan still holds: its promises against the present state, before and after."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import chain

from msgspec.structs import replace

from reshardctl.consumers.locator import Locator, parse
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import REPLAN, StalePlan, UsageError
from reshardctl.execution.plan_file import SavedPlan, broken, footprint, parsed, promises
from reshardctl.journal import Records
from reshardctl.lineage import Lineage
from reshardctl.model import Change, Image, Step, Update, after, ahead, keys_of, writes_of
from reshardctl.model.phrases import listed
from reshardctl.model.write_state import WriteState, write_states
from reshardctl.planning.plan import (
    Nothing,
    Plan,
    first_positions,
    judge,
    never_read,
    processed_frontier,
)
from reshardctl.planning.starts import Starts
from reshardctl.planning.writes import require_live
from reshardctl.report.report import Report, case_of

APPLIED = "reshardctl undo --list   # the journal of the fix that wrote them"


def require_same(plan: SavedPlan, lineage: Lineage, store: Mapping[str, str]) -> None:
    """StalePlan unless stream and store are those that the plan was made for.

    store: the identity that the store has now.
    """
    if lineage.stream.created != plan.created:
        raise StalePlan("the plan is stale: the stream was deleted and recreated since", REPLAN)
    if dict(store) != dict(plan.store):
        there, here = (each.get("arn", "") for each in (plan.store, store))
        which = f": {there}; reached is {here}" if there != here else ""
        raise StalePlan(f"the plan is stale: it was made for another store{which}", REPLAN)


def still_proven(plan: SavedPlan, report: Report, live: bool) -> list[Step]:
    """The plan's steps over the rows of a fresh report, or StalePlan with what has changed.

    live: the consumer may be running, so rows may be renewed and read on meanwhile, and only steps
    that are safe then are let through (Refused).
    """
    steps = planned_again(plan, report, live)
    if live:
        require_live(steps)
    return steps


def planned_again(plan: SavedPlan, report: Report, live: bool) -> list[Step]:
    """As `still_proven`, without asking whether the steps are safe beside a running consumer."""
    if _in_place(plan, report.snapshot):
        raise StalePlan("every row is already as this plan leaves it", APPLIED)
    if moved := _footprint_moved(report.snapshot, plan, live):
        named = dict.fromkeys(name.replace("lasting ", "row ", 1) for name in moved)
        raise StalePlan(f"the plan is stale: {listed([*named], 3)} changed since", REPLAN)
    decision = report.decision
    if not isinstance(decision, Plan):
        what = "nothing is left to do" if isinstance(decision, Nothing) else "no plan is possible"
        raise StalePlan(f"the plan is stale: for the current rows {what}", REPLAN)
    owners = report.snapshot.locator.spec.owner_attributes if live else frozenset()
    if changed := _differences(plan.steps, decision.steps, owners):
        raise StalePlan(f"the plan is stale: {'; '.join(changed[:3])}", REPLAN)
    if len(plan.promised) != len(decision.after):
        raise StalePlan("the plan is stale: the current rows indicate another release", REPLAN)
    for promised, effects in zip(plan.promised, decision.after, strict=True):
        if worse := broken(promised, promises(effects)):
            harm, shard, _ = worse[0]
            raise StalePlan(f"the plan is stale: {shard or 'the consumer'} would be {harm}", REPLAN)
    return list(decision.steps)


def _in_place(plan: SavedPlan, now: Snapshot) -> bool:
    """Whether every write of the plan is in place."""
    rows = {image.key: image for image in now.images}
    named = {key: rows.get(key) for key in keys_of(plan.steps)}
    states = write_states(plan.steps, named, now.locator.spec.volatile_attributes)
    return all(state is WriteState.APPLIED for step in states for state in step)


def plan_of(records: Records) -> SavedPlan:
    """The plan that a journal is about. UsageError unless all of its records are of that plan."""
    header, name = records.header, str(records.path)
    plan = parsed(header.notes.get("saved", ""), name)
    told = (
        header.plan, header.locator, dict(header.identity), header.stream.get("arn"), header.steps
    )
    if told != (plan.digest, plan.locator, dict(plan.store), plan.stream, plan.steps):
        raise _mixed(name, "its header and the plan in it differ")
    owners = parse(plan.locator).spec.owner_attributes
    pairs = zip(plan.steps, records.fix.current, strict=True)
    for step, tried in pairs:
        if changed := _differences([step], [tried], owners):
            raise _mixed(name, f"{changed[0]} than the plan in it says")
    return plan


def _mixed(name: str, what: str) -> UsageError:
    return UsageError(
        f"journal {name}: {what}: no reshardctl wrote it so; nothing was written",
        f"reshardctl undo --show {shlex.quote(name)}   # what it holds",
    )


def require_promises(plan: SavedPlan, now: Snapshot, rest: list[Step], undo: str) -> Plan:
    """The rest of the steps as a plan, with what it costs on the mixed state.

    StalePlan unless a start after it does what the whole plan showed. now: the mixed state, some of
    the steps in place. undo: the command that undoes them.
    """
    images = list(now.images)
    written = ahead(_past_barriers(rest, images))
    rows = tuple(after(images, written))
    case = case_of(replace(now, images=rows), plan.options)
    untouched = _without_the_plan(plan, now)
    began = plan.options.bootstrap and case.consumer.empty(case.checkpoint(untouched))
    processed = never_read(now.lineage) if began else processed_frontier(case, untouched)
    want = case.wanted(processed)
    judged = judge(case, want, processed)
    if len(plan.promised) != len(judged):
        raise StalePlan(
            "the current rows indicate another release than those that the plan was proven for",
            f"{undo}   # then plan again",
        )
    for promised, candidate in zip(plan.promised, judged, strict=True):
        if worse := broken(promised, promises(candidate.effects)):
            harm, shard, _ = worse[0]
            raise StalePlan(
                f"continuing would leave {shard or 'the consumer'} {harm}, which the plan did "
                "not show", f"{undo}   # then plan again",
            )
    mixed = case_of(now, plan.options)
    if began:
        priced, _ = first_positions(mixed, written)
    else:
        priced = Starts(mixed, untouched).priced(written)
    return replace(priced, steps=tuple(rest))


def _without_the_plan(plan: SavedPlan, now: Snapshot) -> list[Image]:
    """The rows as they would be if the plan had written nothing: they tell what is processed.

    A row that has moved on since it was written stays as it is, and so does what was written before
    a barrier that the consumer has passed: it went on from there.
    """
    rows = {image.key: image for image in now.images}
    passed = [place for place, step in enumerate(plan.steps) if step.barrier in rows]
    steps = plan.steps[passed[-1]:] if passed else plan.steps
    named = {key: rows.get(key) for key in keys_of(steps)}
    states = write_states(steps, named, now.locator.spec.volatile_attributes)
    pairs = zip(writes_of(steps), chain.from_iterable(states), strict=True)
    for write, state in reversed([*pairs]):
        if state is WriteState.APPLIED:
            rows.pop(write.key, None)
            if write.before is not None:
                rows[write.key] = write.before
    return [rows[key] for key in sorted(rows)]


def renewing(locator: Locator, live: bool) -> frozenset[str]:
    """The attributes that a worker changes while it keeps its row; none if no worker may run.

    The owner is not among them: losing or taking a row is more than renewing it.
    """
    spec = locator.spec
    return spec.volatile_attributes - spec.owner_attributes if live else frozenset()


def unplanned(plan: SavedPlan, report: Report) -> str:
    """Titles of steps of the next plan that would overwrite those of this one; "" if none.

    That there are none was proven before the first write. Steps of other rows are of shards that
    were left alone or changed since: the report says so.
    """
    decision = report.decision
    if not isinstance(decision, Plan):
        return ""
    if keys_of(plan.steps).isdisjoint(keys_of(decision.steps)):
        return ""
    return listed(decision.steps, 3, lambda step: step.title)


def _footprint_moved(fresh: Snapshot, plan: SavedPlan, live: bool) -> list[str]:
    """What the proof rests on and has changed.

    Rows that the consumer reads from change: their positions are proven anew, and only their
    existence and their parents have to be as they were.
    """
    now = footprint(fresh, plan.steps)
    named = sorted(now.keys() | plan.footprint)
    if live:
        named = [name for name in named if not name.startswith("row ")]
    return [name for name in named if now.get(name) != plan.footprint.get(name)]


def _differences(
    old: Sequence[Step], new: Sequence[Step], owners: frozenset[str] = frozenset()
) -> list[str]:
    """How two plans differ in what they write, in words.

    owners: attributes that may be removed in one of them only, because a worker has taken or
    released a row since.
    """
    was = {w.key: w for w in writes_of(old)}
    now = {w.key: w for w in writes_of(new)}
    return [
        *(f"{key} no longer needs a write" for key in sorted(was.keys() - now.keys())),
        *(f"{key} needs a write, too" for key in sorted(now.keys() - was.keys())),
        *(
            f"{key} would be written differently"
            for key in sorted(was.keys() & now.keys())
            if _apart_from(owners, was[key].change) != _apart_from(owners, now[key].change)
        ),
    ]


def _apart_from(owners: frozenset[str], change: Change) -> Change:
    if not isinstance(change, Update):
        return change
    return replace(change, remove=tuple(name for name in change.remove if name not in owners))


def _past_barriers(steps: list[Step], images: list[Image]) -> list[Step]:
    """The same steps, without the barriers whose row exists by now."""
    there = {image.key for image in images}
    return [replace(step, barrier="") if step.barrier in there else step for step in steps]
