"""What must hold for every table. A property gives the violations that it finds, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from reshardctl.model import Cause, at_number, writes_of
from reshardctl.planning.effects import Effect, Harm
from reshardctl.planning.plan import NoSafePlan, Nothing, Plan, decide
from tests.proof.exhaustive.trials import Trial
from tests.proof.reference.kcl import Run
from tests.support.case import Case
from tests.support.case_rows import Item
from tests.support.case_stream import shard_name

Property = Callable[[Trial], Iterator[str]]
Pairs = set[tuple[str, str]]

HOUR = 3600.0
SERIOUS = (Harm.SKIPPED, Harm.STALLED, Harm.CRASHES)


def forecast(trial: Trial) -> Iterator[str]:
    """P1: the forecast names exactly what the reference consumer delivers."""
    if (trial.simulation.crash is not None) != trial.before.died:
        yield f"crash {trial.simulation.crash}, died {trial.before.died}"
    for shard, wanted in trial.forecast_delivery.items():
        if (got := tuple(trial.before.delivered.get(shard, ()))) != wanted:
            yield f"{shard}: forecast {wanted}, delivered {got}"


def soundness(trial: Trial) -> Iterator[str]:
    """P2: after the plan all that is owed comes, nothing is lost by it, and what it costs is said.

    Shards left alone, and what they hold up, may go on missing what they missed; so may shards of
    which the plan says that they still stall or skip, where nothing that can be written helps.
    """
    if not isinstance(trial.decision, Plan | Nothing):
        return
    yield from _owed_comes(trial)
    yield from _nothing_lost(trial)
    for first, second in _new_disorder(trial, trial.after):
        yield f"the plan lets {second} be read before {first}"
    yield from _rereads(trial)


def _new_disorder(trial: Trial, run: Run) -> Pairs:
    """Shards that run ahead of unread ancestors already may run ahead of more of them: what was
    skipped is read late rather than never. So may those of an application that cannot start as it
    is, where the plan shows it."""
    planned = isinstance(trial.decision, Plan) and trial.before.died
    shown = trial.decision.after[0] if planned else ()
    ahead = {e.shard for e in (*trial.harms, *shown) if e.harm is Harm.DISORDERED}
    new = disorder(trial, run) - disorder(trial, trial.before)
    return {(first, second) for first, second in new if second not in ahead}


def _owed_comes(trial: Trial) -> Iterator[str]:
    after = trial.decision.after[0] if isinstance(trial.decision, Plan) else trial.harms
    for shard, owed in trial.owes.owed.items():
        missing = owed - set(trial.after.delivered.get(shard, ()))
        if missing and not _excused(trial, shard, after):
            yield f"{shard} owes {sorted(missing)}, and they do not come"


def _excused(trial: Trial, shard: str, after: Iterable[Effect]) -> bool:
    """Left alone or held up by one that is, or as before a crash, and the report says so."""
    dead = any(e.harm is Harm.CRASHES for e in after)
    near = {shard} | above(trial.case, shard)
    near |= {child for one in near for child in children(trial.case, one)}  # ends with them
    left = trial.residuals if dead else trial.residuals & near
    bound = bool(left) or trial.before.died
    return bound and any(e.shard in (shard, None) and e.harm in SERIOUS for e in after)


def _nothing_lost(trial: Trial) -> Iterator[str]:
    for shard, payloads in trial.before.delivered.items():
        processed = trial.owes.processed.get(shard, frozenset())
        lost = set(payloads) - set(trial.after.delivered.get(shard, ())) - processed
        if lost:
            yield f"the plan loses {sorted(lost)} of {shard}"


def _rereads(trial: Trial) -> Iterator[str]:
    shown = trial.decision.after[0] if isinstance(trial.decision, Plan) else trial.harms
    for shard, payloads in trial.after.delivered.items():
        again = set(payloads) & trial.owes.processed.get(shard, frozenset())
        hidden = [p for p in sorted(again) if not _told(trial, shown, shard, p, (Harm.REREAD,))]
        if hidden:
            yield f"{shard} reads {hidden} again, and no effect says so"


def _told(
    trial: Trial, shown: Iterable[Effect], shard: str, payload: str, harms: Iterable[Harm]
) -> bool:
    """Whether an effect of these kinds covers this record."""
    return any(
        e.harm is Harm.CRASHES or (e.shard == shard and _inside(trial.case, e, payload))
        for e in shown if e.harm in harms
    )


def _inside(case: Case, effect: Effect, payload: str) -> bool:
    if payload.startswith("n"):
        return True
    cut = at_number(case.number_of(payload))
    return effect.since < cut and (cut <= effect.until or effect.until.by_time)


def idempotence(trial: Trial) -> Iterator[str]:
    """P3: on the repaired table there is nothing to do, or nothing that helps against what the
    first plan said would stay. A shard that was left alone for its price may have a lower one."""
    if not isinstance(trial.decision, Plan):
        return
    second = decide(trial.plan_case(trial.repaired))
    if isinstance(second, Plan) and {w.key for w in writes_of(second.steps)} <= trial.residuals:
        return
    stays = {e.why for e in trial.decision.after[0]}
    if isinstance(second, NoSafePlan) and any(why in second.why for why in stays):
        return
    if not isinstance(second, Nothing):
        yield f"the second plan is not empty: {second}"


def effects_agree(trial: Trial) -> Iterator[str]:
    """P4: certain loss is loss, and every loss and disorder of a start is an effect."""
    for effect in trial.harms:
        yield from _certain_is_certain(trial, effect)
    for shard, owed in trial.owes.owed.items():
        missing = owed - set(trial.before.delivered.get(shard, ()))
        silent = [p for p in missing if not _told(trial, trial.harms, shard, p, SERIOUS)]
        if silent:
            yield f"{shard} misses {sorted(silent)}, and no effect says so"
    told = {(by, e.shard) for e in trial.harms if e.harm is Harm.DISORDERED for by in e.by}
    for first, second in disorder(trial, trial.before) - told:
        yield f"{second} is read before {first}, and no effect says so"


def _certain_is_certain(trial: Trial, effect: Effect) -> Iterator[str]:
    if not effect.certain or effect.shard is None or effect.harm not in SERIOUS:
        return
    came = trial.before.delivered.get(effect.shard, ())
    if effect.harm is Harm.SKIPPED:
        came = [p for p in came if not p.startswith("n")]
    if wrong := [p for p in came if _inside(trial.case, effect, p)]:
        yield f"{effect.shard} is certainly {effect.harm}, and yet {wrong} come"


def foreign(trial: Trial) -> bool:
    """Whether the table has a row of another stream: nothing beside it is written unproven."""
    return bool(trial.core.foreign(trial.core.checkpoint()))


def completeness(trial: Trial) -> Iterator[str]:
    """P10: where any re-read is accepted nothing is left alone, and only what costs new disorder
    or is disordered already is beyond help.

    A shard that has not begun waits for the parents that owe, once the plan is carried out.
    """
    if trial.scene.reread <= HOUR:
        return
    found = trial.decision
    residuals = found.residuals if isinstance(found, Plan | Nothing) else ()
    for_order = [left for left in residuals if left.costs.harm is Harm.DISORDERED]
    disordered = {left.shard for left in for_order}
    left_ahead = {e.shard for e in for_order if e.costs.shard and _ahead(trial, e.costs.shard)}
    for left in residuals:
        by = set(left.costs.by).union(*(above(trial.case, shard) for shard in left.costs.by))
        held_up = left.costs.harm is Harm.STALLED and trial.residuals & by
        if (foreign(trial) and left.why) or left.costs.cause is Cause.AT_END:
            continue  # it is not ours to write, or nobody knows what AWS answers
        if not ({left.shard, left.costs.shard} & disordered or held_up):
            yield f"left alone although any re-read is accepted: {left}"
    if isinstance(found, NoSafePlan) and not (foreign(trial) or _of_disorder(trial, found)):
        wrong = [e for e in trial.harms if e.harm in SERIOUS and not e.gone]
        if wrong:
            yield f"no line, and yet {wrong[0]}"
    for first, second in disorder(trial, trial.after):
        if first in parents(trial.case, second) - left_ahead and not _ahead(trial, second):
            yield f"{second} has not begun, and does not wait for {first}"


def _ahead(trial: Trial, shard: str) -> bool:
    """Whether the shard was begun, or has no parent with owed records that it could wait for."""
    if trial.owes.processed.get(shard):
        return True
    return not any(trial.owes.owed.get(parent) for parent in parents(trial.case, shard))


def _of_disorder(trial: Trial, found: NoSafePlan) -> bool:
    """Whether there is a plan for who accepts a new disorder, of a shard that is ahead already."""
    asked = any("disorder" in way for way in found.ways_out)
    return asked and any(_ahead(trial, shard) for shard in re.findall(r"shardId-\d+", found.why))


def families(trial: Trial) -> Iterator[str]:
    """P9: a plan ends no lease whose children have none, unless there is nothing left of them: no
    synchronisation would ever create them (kcl: a hole below a finished lease)."""
    old = {item["leaseKey"]["S"]: item.get("checkpoint") for item in trial.case.items()}
    items = {item["leaseKey"]["S"]: item.get("checkpoint") for item in trial.repaired}
    for write in (write for step in trial.steps for write in step.writes):
        ended = {"S": "SHARD_END"}
        if items.get(write.key) != ended or old.get(write.key) == ended:
            continue
        for child in trial.case.topology[int(write.key.removeprefix("shardId-"))].children:
            name = shard_name(child)
            held = (items.get(parent, ended) for parent in parents(trial.case, name))
            ends_with = all(checkpoint == ended for checkpoint in held)  # else the other makes it
            if name not in items and trial.owes.owed.get(name) and ends_with:
                yield f"{write.key} is ended, {name} owes and has no lease"


def prefixes(trial: Trial) -> Iterator[str]:
    """P5: a plan that stops half-way leaves nothing worse than it was."""
    for count in range(1, len(trial.steps)):
        items = trial.applied(trial.steps[:count])
        for effect in trial.effects(items):
            if _worse(trial, effect):
                yield f"after {count} steps: {effect}"
        yield from _start_no_worse(trial, items, count)


def _worse(trial: Trial, effect: Effect) -> bool:
    """Whether the table as it was had nothing like it.

    A shard that nobody would have read may be skipped, for it is no further from its repair, or be
    late; one that ran ahead of its ancestors may wait. A consumer that would have died may do all
    but skip.
    """
    if effect.gone or effect.past:
        return False
    if effect.harm is Harm.REREAD and (effect.seconds or 0) <= trial.scene.reread:
        return False
    if effect.harm is Harm.DISORDERED and all(_harmed(trial, by) for by in effect.by):
        return False
    late = any(e.shard == effect.shard and e.harm is Harm.DISORDERED for e in trial.harms)
    if effect.harm is Harm.STALLED and late:
        return False
    if trial.before.died and effect.harm is not Harm.SKIPPED:
        return False
    alike = SERIOUS if effect.harm in SERIOUS else (effect.harm,)
    return not any(e.shard == effect.shard and e.harm in alike for e in trial.harms)


def _harmed(trial: Trial, shard: str) -> bool:
    return any(e.shard == shard and e.harm in SERIOUS for e in trial.harms)


def _start_no_worse(trial: Trial, items: list[Item], count: int) -> Iterator[str]:
    run = trial.start(items)
    for shard, owed in trial.owes.owed.items():
        lost = owed & set(trial.before.delivered.get(shard, ())) - set(run.delivered.get(shard, ()))
        late = any(e.shard == shard and e.harm is Harm.DISORDERED for e in trial.harms)
        if lost and not late:
            yield f"after {count} steps {shard} loses {sorted(lost)}"
    for first, second in _new_disorder(trial, run):
        if not _harmed(trial, first):  # late, but it would have been never
            yield f"after {count} steps {second} is read before {first}"


def latest_at_start(trial: Trial) -> Iterator[str]:
    """P7: what is put from now on comes, and nothing else."""
    if not isinstance(trial.decision, Plan | Nothing) or foreign(trial):
        return
    for shard in trial.case.topology.values():
        name = shard_name(shard.id)
        if not shard.listed or name in trial.residuals:
            continue
        here = not shard.end and shard.id in trial.case.live.shards
        wanted = [f"n{shard.id}-{i}" for i in range(trial.case.live.n)] if here else []
        if (got := trial.after.delivered.get(name, [])) != wanted:
            yield f"{name}: {got}, wanted {wanted}"


def disorder(trial: Trial, run: Run) -> Pairs:
    """(ancestor, descendant): something of the second came before owed records of the first."""
    place = {payload: i for i, payload in enumerate(run.order)}
    found: Pairs = set()
    for shard in run.delivered:
        first = min(place[p] for p in run.delivered[shard])
        for ancestor in above(trial.case, shard):
            owed = trial.owes.owed.get(ancestor, frozenset())
            came = [place[p] for p in run.delivered.get(ancestor, ()) if p in owed]
            if came and max(came) > first:
                found.add((ancestor, shard))
    return found


def above(case: Case, shard: str) -> set[str]:
    """All ancestors, listed or not."""
    found: set[str] = set()
    todo = list(case.topology[int(shard.removeprefix("shardId-"))].parents)
    while todo:
        parent = todo.pop()
        if shard_name(parent) not in found:
            found.add(shard_name(parent))
            todo += case.topology[parent].parents
    return found


def parents(case: Case, shard: str) -> set[str]:
    return set(map(shard_name, case.topology[int(shard.removeprefix("shardId-"))].parents))


def children(case: Case, shard: str) -> set[str]:
    return set(map(shard_name, case.topology[int(shard.removeprefix("shardId-"))].children))


def healthy(trial: Trial) -> Iterator[str]:
    """P8: what a killed worker leaves needs nothing, and its next start reads on from there."""
    if not isinstance(trial.decision, Nothing) or trial.residuals:
        yield f"a healthy table gets {trial.decision}"
    serious = [e for e in trial.harms if e.harm in (*SERIOUS, Harm.DISORDERED)]
    for effect in serious:
        if not (effect.gone or effect.past):
            yield f"a healthy table has {effect}"
