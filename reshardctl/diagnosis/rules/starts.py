"""Rules on what the next start does with a shard: what it skips, never reads, reads again.

These are most of RSH201 to RSH233. First comes what several of them ask about a shard's parents
and about merges, and about rows that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reshardctl.diagnosis.rules.base import Finding, Found, Severity, View, of_effects, rule
from reshardctl.model import (
    DONE,
    Anomaly,
    AnomalyKind,
    Cause,
    Fate,
    ShardId,
    WillRead,
    WontRead,
    awaited,
    short,
)
from reshardctl.planning.effects import PAST_EXPIRY, Effect, Harm, drained_unended

_WITHOUT_ROW = {
    Cause.NO_POSITION, Cause.REFILLED, Cause.CREATED_AT_PARENT_END, Cause.BOOTSTRAP,
}


def has_row(view: View, shard: ShardId) -> bool:
    """Whether the store holds a position of the shard."""
    fate = view.simulation.fates.get(shard)
    return fate is not None and fate.cause not in _WITHOUT_ROW


def is_open(view: View, shard: ShardId | None) -> bool:
    """Whether the shard is listed and open."""
    return shard is not None and shard in view.lineage and view.lineage.is_open(shard)


def is_closed(view: View, shard: ShardId | None) -> bool:
    """Whether the shard is listed and closed."""
    return shard is not None and shard in view.lineage and not view.lineage.is_open(shard)


def below_a_row(view: View, shard: ShardId | None) -> bool:
    """Whether a parent of the shard has a position, so that no refill creates one for the shard."""
    return shard is not None and any(has_row(view, p) for p in view.lineage.parents(shard))


def waits_for_a_parent(view: View, shard: ShardId | None) -> bool:
    """Whether only an ancestor that is never read keeps the shard from being started.

    A shard whose own children have positions was started once, and has lost its position.
    """
    if shard is None or not any(
        isinstance(fate := view.simulation.fates.get(p), WontRead)
        and fate.cause is Cause.NO_POSITION
        and view.processed[p].lo != DONE
        for p in view.lineage.parents(shard)
    ):
        return False
    return not any(has_row(view, c) for c in view.lineage.children(shard))


def unreadable(view: View) -> list[Anomaly]:
    """Rows that the consumer cannot read, including those that only this release cannot."""
    fates = view.simulation.fates
    return [
        *view.anomalies_of(AnomalyKind.UNREADABLE),
        *(
            anomaly for anomaly in view.anomalies_of(AnomalyKind.UNREADABLE_TO_SOME)
            if anomaly.shard is not None and anomaly.shard in fates
            and fates[anomaly.shard].cause is Cause.UNREADABLE
        ),
    ]


def merges_without_a_parent(view: View) -> Iterator[tuple[ShardId, ShardId]]:
    """Pairs of an unfinished parent of a merge and its co-parent without a position."""
    for missing, fate in view.simulation.fates.items():
        if fate.cause not in (Cause.NO_POSITION, Cause.REFILLED) or missing not in view.lineage:
            continue
        children = view.lineage.children(missing)
        for other in view.lineage.parents(children[0]) if len(children) == 1 else ():
            partner = view.simulation.fates.get(other)
            if other == missing or not isinstance(partner, WillRead) or not has_row(view, other):
                continue
            if partner.cause is not Cause.FINISHED and _held_up(partner, fate):
                yield other, missing


def _held_up(partner: WillRead, missing: Fate) -> bool:
    """Whether the parent's end waits for the missing one.

    It does not if that one is refilled at the start, or if ends do not depend on it (KCL 1.0–1.13
    and 2.0–2.2).
    """
    return missing.delay.most > 0 if isinstance(missing, WillRead) else not partner.ends


def never_ending(view: View) -> Iterator[ShardId]:
    """Closed shards that are read and cannot end: the other parent of their merge is missing."""
    fates = view.simulation.fates
    unread = {anomaly.shard for anomaly in unreadable(view)}
    unread |= {shard for shard, fate in fates.items() if fate.cause is Cause.UNREADABLE}
    for shard, fate in view.simulation.fates.items():
        endless = isinstance(fate, WillRead) and not fate.ends and is_closed(view, shard)
        # An end also fails if a child's row cannot be read, which has a finding of its own.
        if endless and unread.isdisjoint(view.lineage.children(shard)):
            yield shard


@rule("RSH201", "child-before-parent")
def child_before_parent(view: View) -> Iterator[Found]:
    """Warning: order by key is certainly broken between the two."""
    effects = [effect for effect in view.harmed(Harm.DISORDERED) if effect.certain]
    ahead = {effect.shard for effect in effects if not effect.past}
    what = "read while an ancestor still has unread records, and does not wait for it"
    costs = "records of one key may be processed out of order"
    yield from of_effects(
        [e for e in effects if e.shard in ahead], what, costs, Severity.WARNING
    )
    past = [e for e in effects if e.shard not in ahead]
    what = "begun while a parent still had unread records"
    if all(_waits(view, effect) for effect in past):
        what += "; the next start waits for it"
    costs = "records of one key may have been processed out of order"
    yield from of_effects(past, what, costs, Severity.WARNING)


def _waits(view: View, effect: Effect) -> bool:
    """Whether the next start waits for all that a shard was read before."""
    fate = None if effect.shard is None else view.simulation.fates.get(effect.shard)
    return fate is not None and awaited(fate).issuperset(effect.by)


@rule("RSH202", "parent-abandoned")
def parent_abandoned(view: View) -> Iterator[Found]:
    """Error or warning: the shard's unread records are lost once they expire."""
    never = [
        e for e in view.harmed(Harm.STALLED, Cause.NO_POSITION)
        if not waits_for_a_parent(view, e.shard)
    ]
    too_late = [e for e in view.harmed(Harm.SKIPPED, Cause.REFILLED, Cause.LATEST) if not e.gone]
    effects = [
        e for e in (*never, *too_late)
        if is_closed(view, e.shard) and not below_a_row(view, e.shard)
    ]
    effects += [e for e in view.harmed(Harm.SKIPPED, Cause.TAKEN_FOR_READ) if not e.gone]
    probes = [view.state.probes.get(e.shard) for e in effects if e.shard is not None]
    seen = bool(probes) and all(probe is not None and probe.count for probe in probes)
    what = "closed, and nothing will read what is still unread"
    if seen:
        what = "closed with records left in it, and nothing will read them"
    costs = "the unread records are lost once they expire"
    yield from of_effects(effects, what, costs)


@rule("RSH203", "child-not-started")
def child_not_started(view: View) -> Iterator[Found]:
    """Error: the child is never read, however long the consumer runs."""
    effects = [
        e for e in view.harmed(Harm.STALLED, Cause.NO_POSITION)
        if (is_open(view, e.shard) or below_a_row(view, e.shard))
        and not e.by and not waits_for_a_parent(view, e.shard)
    ]
    what = "there is no position, and nothing will ever make one"
    if any(e.shard in view.lineage and view.lineage[e.shard].parents for e in effects if e.shard):
        what = f"the parents have ended, {what}"
    costs = "never read; the records expire unread"
    yield from of_effects(effects, what, costs)


MAY_BE_GONE = "may be gone already; nothing brings them back"


@rule("RSH204", "position-expired")
def position_expired(view: View) -> Iterator[Found]:
    """Warning: records may be gone; an error where the consumer crashes at an expired shard."""
    if crashes := view.harmed(Harm.CRASHES, Cause.GONE):
        shards = tuple(s for e in crashes for s in e.by)
        what = "the shard is not listed any more, and the consumer still wants it"
        lost = [e for e in view.harmed(Harm.SKIPPED, Cause.GONE) if e.shard in shards]
        also = f"; records after its position {MAY_BE_GONE}" if lost else ""
        costs = f"{crashes[0].why}{also}"
        yield Found(Severity.ERROR, shards, what, costs, (*crashes, *lost))
        return
    if crashes := view.harmed(Harm.CRASHES, Cause.EXPIRED):
        shards = tuple(s for e in crashes for s in e.by)
        what = "the position is older than the stream's retention"
        yield Found(
            Severity.ERROR, shards, what, crashes[0].why, tuple(crashes), helps=PAST_EXPIRY
        )
        return
    effects = [e for e in view.harmed(Harm.SKIPPED) if e.gone]
    what = "the position is older than the stream's retention, or the shard has expired"
    yield from of_effects(
        effects, what, f"records after it {MAY_BE_GONE}", Severity.WARNING,
        "--probe tells an idle shard from a loss"
    )


@rule("RSH208", "child-at-latest", wanted_by=frozenset({"latest-at-start"}))
def child_at_latest(view: View) -> Iterator[Found]:
    """Error or warning: records written to the child before that start are skipped."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.LATEST)
        if not e.gone and (is_open(view, e.shard) or below_a_row(view, e.shard))
    ]
    what = "at LATEST: read from the tip at the moment of the next start"
    costs = "everything written until then is skipped"
    yield from of_effects(effects, what, costs)


@rule("RSH209", "refilled-at-start-position")
def refilled_at_start_position(view: View) -> Iterator[Found]:
    """Error or warning: what was written to the shard before that is skipped."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.REFILLED)
        if is_open(view, e.shard) or below_a_row(view, e.shard)
    ]
    what = "has no position; the consumer makes one at the application's start position"
    costs = "what was written before that is skipped"
    yield from of_effects(effects, what, costs)


@rule("RSH211", "merge-parent-missing")
def merge_parent_missing(view: View) -> Iterator[Found]:
    """Info if the missing parent comes back as it should, else an error or a warning.

    Error: it is not read. Warning: only the other parent never ends.
    """
    endless = set(never_ending(view))
    pairs = dict(merges_without_a_parent(view))
    effects: dict[ShardId | None, list[Effect]] = {}
    for effect in view.effects:
        effects.setdefault(effect.shard, []).append(effect)
    for waiting in dict.fromkeys([*pairs, *endless]):
        missing = pairs.get(waiting)
        hurt = [e for e in effects.get(missing, ()) if e.harm is not Harm.REREAD]
        lasting = Severity.WARNING if waiting in endless else Severity.INFO
        yield Found(
            Severity.ERROR if hurt else lasting, (waiting,),
            "cannot end while the other parent of its merge has no position",
            "the merged shard waits until it has one" if hurt else "",
            tuple(e for e in hurt if missing is not None),
        )


@rule("RSH213", "blocked-for-ever")
def blocked_for_ever(view: View) -> Iterator[Found]:
    """Error: nothing of the shard is read until the parent is repaired."""
    effects = [
        e for e in view.harmed(Harm.STALLED)
        if e.cause is None
        or (e.cause is Cause.NO_POSITION and (e.by or waits_for_a_parent(view, e.shard)))
        or (e.cause is Cause.UNREADABLE and e.by)
    ]
    named: dict[ShardId, list[ShardId | None]] = {}
    for effect in effects:
        for shard in effect.by:
            named.setdefault(shard, []).append(effect.shard)
    what = "waiting for a parent that never ends"
    if named:
        what += f": {', '.join(map(short, named))}"
    costs = "not read until that parent is mended; the records expire unread"
    strange = [shard for shard, waiting in named.items() if _is_no_parent(view, waiting, shard)]
    helps = "mend what it waits for first: see the other findings"
    if held := [shard for shard in named if _is_held(view, shard)]:
        listed = ", ".join(map(short, held))
        helps = f"{listed} is not listed any more, and its row waits too: end that row"
        costs = "not read until that row is ended; the records expire unread"
    elif gone := [shard for shard in named if _is_gone(view, shard)]:
        listed = ", ".join(map(short, gone))
        helps = f"{listed} is not listed any more: no position ends the wait"
        costs = "not read; the records expire unread"
    if strange:
        wrong = ", ".join(map(short, strange))
        helps = f"{wrong} is no parent of what waits for it: the row names a wrong one"
    yield from of_effects(effects, what, costs, helps=helps if named else "")


def _is_no_parent(view: View, waiting: Iterable[ShardId | None], shard: ShardId) -> bool:
    """Whether the listing knows it as no parent of a shard that waits for it."""
    return any(
        waiter in view.lineage and shard not in view.lineage[waiter].parents
        for waiter in waiting if waiter is not None
    )


def _is_gone(view: View, shard: ShardId) -> bool:
    """Whether it is not listed, and no row of it is looked at."""
    fate = view.simulation.fates.get(shard)
    return shard not in view.lineage and (fate is None or fate.cause is Cause.GONE)


def _is_held(view: View, shard: ShardId) -> bool:
    """Whether a shard that is not listed has a row that waits for another's end itself."""
    fate = view.simulation.fates.get(shard)
    return fate is not None and _is_gone(view, shard) and bool(awaited(fate))


@rule("RSH214", "read-again")
def read_again(view: View) -> Iterator[Found]:
    """Warning: duplicates beyond what the consumer delivers twice anyway."""
    effects = [e for e in view.harmed(Harm.REREAD) if e.certain]
    what = "records that were already processed are read again"
    yield from of_effects(effects, what, "duplicates", Severity.WARNING)


@rule("RSH216", "drained-not-ended")
def drained_not_ended(view: View) -> Iterator[Found]:
    """Warning: the children wait for an end that should be stored, as a read shows."""
    if shards := drained_unended(view.state, view.simulation):
        yield Found(
            Severity.WARNING, tuple(shards),
            "closed and read to the last record, but not marked as ended",
            "the children wait for that end; if the application never sets it, they wait again "
            "after every reshard",
            helps="if it returns, the application does not checkpoint when a shard ends",
        )


HEAD_HELPS = (
    "A child that a fix began at its start looks the same, and misses nothing. If records are "
    "missing, fix --set SHARD=TRIM_HORIZON reads it again, once"
)


@rule("RSH217", "head-unknown")
def head_unknown(view: View) -> Iterator[Found]:
    """Warning: its first records may be missing, and no row shows it."""
    effects = [
        e for e in view.harmed(Harm.SKIPPED, Cause.HEAD_PASSED)
        if not e.gone and not e.certain
    ]
    what = "begun late, while the application was at work: its first records may be missing"
    costs = "what was written to it before it was first asked for was never read"
    helps = HEAD_HELPS if all(effect.past for effect in effects) else ""
    yield from of_effects(effects, what, costs, Severity.WARNING, helps)


LOSSES = (
    (Harm.SKIPPED, "the next start begins after unread records",
     "the records before that are lost once they expire"),
    (Harm.STALLED, "the next start never reads the rest of this shard",
     "its unread records are lost once they expire"),
    (Harm.CRASHES, "the consumer may crash at its start, and reads nothing then", ""),
)
"""A loss, what a finding says of it, and what it costs: of a crash, what crashes it."""


@rule("RSH218", "unread-skipped", last=True)
def unread_skipped(view: View) -> Iterator[Found]:
    """Report a loss that none of `view.findings` explains: an error where it is certain."""
    if view.findings is None:
        return
    unexplained = _unexplained(view.effects, view.findings)
    for harm, what, costs in LOSSES:
        left = [effect for effect in unexplained if effect.harm is harm]
        if left and (not costs or all(e.cause is Cause.TIME_NOT_PASSED for e in left)):
            costs = left[0].why
        yield from of_effects(left, what, costs)


def _unexplained(effects: Iterable[Effect], findings: Iterable[Finding]) -> list[Effect]:
    """The effects that no finding lists, and that none without effects explains.

    The latter is a warning or an error of the effect's shard, or an error of the whole consumer.
    """
    told = {effect for finding in findings for effect in finding.effects}
    bare = [finding for finding in findings if not finding.effects]
    if any(finding.severity is Severity.ERROR and not finding.shards for finding in bare):
        return []
    shards = {s for finding in bare if finding.severity > Severity.INFO for s in finding.shards}
    return [effect for effect in effects if effect not in told and effect.shard not in shards]


@rule("RSH231", "dies-after-reshard")
def dies_after_reshard(view: View) -> Iterator[Found]:
    """Error: nothing is read until the closed shards are no longer listed."""
    crash = view.simulation.crash
    if crashes := tuple(view.harmed(Harm.CRASHES, Cause.KNOWN_CHILD)):
        assert crash is not None
        yield Found(
            Severity.ERROR, crash.by,
            "closed shards are listed together with their children, which crashes this release",
            f"{crash.why}; so at every start until {crash.until}", crashes,
            helps="deleting or resetting the source does not help; release 0.9.0 starts",
        )


@rule("RSH233", "may-never-commit")
def may_never_commit(view: View) -> Iterator[Found]:
    """Warning: a race, which a read that finds the shards drained rules out."""
    for risk in view.simulation.risks:
        if risk.cause not in (Cause.BACKFILL, Cause.LIVELOCK):
            continue
        probes = view.state.probes
        drained = {s for s in risk.shards if s in probes and probes[s].drained}
        if risk.cause is Cause.LIVELOCK and drained == set(risk.shards):
            continue
        yield Found(
            Severity.WARNING, risk.shards,
            "the source may fail again and again before anything is committed", risk.why,
            helps=risk.helps,
        )
