"""The plan of a part of a consumer: the selected shards, and the fewest others that they need.

A plan within a scope is proven as any other: its writes alone are simulated, over all rows. A shard
is added only if it is related to a selected one (a parent, the other parent of a merge, a child),
and only if there is no proven plan without it. What needs the row of an unrelated shard is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

from msgspec.structs import replace

from reshardctl.consumers.base import MANY
from reshardctl.lineage import Lineage
from reshardctl.model import Fate, ShardId, Step, WillRead, after, in_birth_order, short, writes_of
from reshardctl.model.phrases import listed
from reshardctl.planning.case import Case, processed_frontier
from reshardctl.planning.decision import Added, Ask, Decision, NoSafePlan, Nothing, Plan, Scope
from reshardctl.planning.prices import acceptable
from reshardctl.planning.starts import Starts

NAMED = 3
"""Shards that a refusal names before it counts the rest."""
TRIED = 8
"""Added shards of which each is tried whether the plan can do without it."""

_Undone = set[tuple[str, ShardId | None]]


def widened(case: Case, scope: Scope, decide: Callable[[Case], Decision]) -> Decision:
    """The decision on a scope, or on the fewest shards more. decide: the one without more."""
    return Nothing() if scope.empty else _Search(case, scope, decide).result()


def touched(case: Case, steps: Sequence[Step]) -> dict[ShardId, str]:
    """The shards that steps write, each with the reason of its write.

    Of a row that holds many shards these are the ones that are read from another place after it.
    """
    shards = {case.consumer.shard_of(write.key): write.why for write in writes_of(steps)}
    why = shards.pop(MANY, None)
    return shards if why is None else {**dict.fromkeys(_moved(case, steps), why), **shards}


def _moved(case: Case, steps: Sequence[Step]) -> Iterator[ShardId]:
    rows = case.consumer
    old, new = case.checkpoint(), case.checkpoint(case.after(steps))
    was, now = rows.positions(old), rows.positions(new)
    changed = [s for s in dict.fromkeys([*was, *now]) if was.get(s) != now.get(s)]
    runs = [
        [case.simulation(each, c).fates for each in (old, new)]
        for c in case.candidates
    ]
    for shard in changed:
        if any(_start(a.get(shard)) != _start(b.get(shard)) for a, b in runs):
            yield shard


def _start(fate: Fate | None) -> object:
    """What a fate says of where a shard is read, without the words."""
    return (fate.at.lo, fate.at.hi, fate.until) if isinstance(fate, WillRead) else None


class _Search:
    """Adds related shards to the selected ones until there is a proven plan that mends them."""

    def __init__(self, case: Case, scope: Scope, decide: Callable[[Case], Decision]) -> None:
        self._case, self._selected, self._decide = case, scope, decide
        self._starts = Starts(case)
        self._related = case.state.lineage.related(scope.shards)
        self._known = {*case.state.lineage, *case.consumer.positions(case.checkpoint())}
        """Shards that can be selected: an expired one without a row goes with its children."""
        self._excused: _Undone = set()
        self._due: set[ShardId] = set()
        """Selected shards that a plan which skips on purpose has to write."""

    def result(self) -> Decision:
        """The plan with the fewest shards, or why there is none."""
        alone = self._of(self._selected.shards)
        if isinstance(alone, Ask):
            return alone
        if self._good(alone) and not self._case.policy.skips:
            return self._named(alone)
        whole = self._decide(replace(self._case, scope=None))
        if not isinstance(whole, Plan):
            self._excused = self._undone(alone)
            return self._named(alone)
        writes = touched(self._case, whole.steps)
        self._excused = self._undone(whole)
        if self._case.policy.skips:
            self._due = set(writes) & self._selected.shards
        if self._good(alone):
            return self._named(alone)
        allowed = self._related & set(writes)
        extended = self._extended(alone, allowed | self._beside(allowed))
        if extended is None:
            return self._refused(alone, writes)
        return extended if self._helps(extended) or not isinstance(alone, NoSafePlan) else alone

    def _of(self, shards: frozenset[ShardId]) -> Decision:
        return self._decide(replace(self._case, scope=replace(self._selected, shards=shards)))

    def _beside(self, shards: Set[ShardId]) -> set[ShardId]:
        """The children of those among these that cannot be selected themselves."""
        children = self._case.state.lineage.children
        return {child for shard in shards - self._known for child in children(shard)}

    def _helps(self, decision: Decision) -> bool:
        """Whether the selected shards are better off after it, and not only the added ones."""
        if not isinstance(decision, Plan):
            return True
        if not self._selected.shards.isdisjoint(touched(self._case, decision.steps)):
            return True
        before, later = (
            {e for run in runs for e in run if self._selected.concerns(e)}
            for runs in (decision.before, decision.after)
        )
        return before != later

    def _extended(self, decision: Decision, allowed: set[ShardId]) -> Decision | None:
        """The plan with as few added shards as are needed, `None` if no related ones suffice."""
        inside = self._selected.shards
        while group := next(self._groups(decision, inside, allowed), None):
            inside |= group
            decision = self._of(inside)
            if self._good(decision):
                return self._named(self._fewest(inside, decision))
        return None

    def _groups(
        self, decision: Decision, inside: frozenset[ShardId], allowed: set[ShardId]
    ) -> Iterator[frozenset[ShardId]]:
        """Shards to add next, nearest first."""
        lineage = self._case.state.lineage
        runs = [*self._starts.effects, *(decision.after if isinstance(decision, Plan) else ())]
        by = {s for run in runs for e in run if self._selected.concerns(e) for s in e.by}
        children = {child for shard in inside for child in lineage.children(shard)}
        parents = {p for shard in inside | children for p in lineage.parents(shard)}
        for group in (by, parents, children, allowed):
            if new := frozenset(group & allowed - inside):
                yield new

    def _fewest(self, inside: frozenset[ShardId], decision: Decision) -> Decision:
        """The decision without those added shards that it can do without."""
        added = in_birth_order(dict.fromkeys(inside - self._selected.shards))
        for shard in reversed(added) if len(added) <= TRIED else ():
            fewer = self._of(inside - {shard})
            if self._good(fewer):
                inside, decision = inside - {shard}, fewer
        return decision

    def _good(self, decision: Decision) -> bool:
        """Whether it mends what can be mended of the selection, and writes no unrelated shard."""
        return self._undone(decision) <= self._excused and self._contained(decision)

    def _contained(self, decision: Decision) -> bool:
        if not isinstance(decision, Plan):
            return True
        allowed = self._related | self._selected.shards
        return touched(self._case, decision.steps).keys() <= allowed

    def _undone(self, decision: Decision) -> _Undone:
        """What is still wrong with the selected shards after the decision."""
        if not isinstance(decision, Plan | Nothing):
            return {("no plan", None)}
        undone: _Undone = {
            (str(left.costs.harm), left.shard) for left in decision.residuals
            if not left.flag and left.shard in self._selected.shards
        }
        steps: Sequence[Step] = ()
        if isinstance(decision, Plan):
            steps = decision.steps
            undone |= {("forgotten", shard) for shard in self._forgotten(steps)}
            undone |= {
                (str(e.harm), e.shard) for run in decision.after for e in run
                if self._selected.concerns(e) and not acceptable(e, self._case.limit)
            }
        due = self._due and self._due - touched(self._case, steps).keys()
        return undone | {("not written", shard) for shard in due}

    def _forgotten(self, steps: Sequence[Step]) -> set[ShardId]:
        """Shards that stay as they are, and of which less is known to be processed then.

        A row that is written holds the number of another shard, as where two were swapped.
        """
        then = processed_frontier(self._case, after(self._case.images, steps))
        writes = touched(self._case, steps)
        return {
            shard for shard, span in self._starts.processed.items()
            if shard not in writes and shard in then and not span.lo <= then[shard].lo
        }

    def _named(self, decision: Decision) -> Decision:
        """The same, naming the shards that it writes beyond the selection."""
        if not isinstance(decision, Plan):
            return decision
        writes = touched(self._case, decision.steps)
        more = in_birth_order(dict.fromkeys(writes.keys() - self._selected.shards))
        return replace(decision, added=tuple(
            Added(s, f"{relation(self._case.state.lineage, s, self._selected.shards)}: {writes[s]}")
            for s in more
        ))

    def _refused(self, alone: Decision, writes: dict[ShardId, str]) -> Decision:
        """A plan that is proven but mends a part only, else why the selection is not enough."""
        if isinstance(alone, Plan) and self._contained(alone) and not self._forgotten(alone.steps):
            return self._named(alone)
        if self._selected.shards.isdisjoint(writes) and not self._hurt():
            return Nothing()
        crash = {s for run in self._starts.effects for e in run for s in e.by if not e.shard}
        near = self._selected.shards | (crash | self._related) & writes.keys()
        decision = self._of(near | self._beside(near))
        if isinstance(decision, Plan) and self._undone(decision) <= self._excused:
            writes = touched(self._case, decision.steps)
        written = in_birth_order(writes)
        needs = in_birth_order({n for s in written for n in self._beside({s}) or {s}})
        others = [f"{s} ({writes[s]})" for s in written if s not in self._selected.shards]
        return NoSafePlan(
            "what is selected cannot be mended by itself: it takes writes to "
            f"{listed(others, NAMED)}",
            (f"select what it needs as well: --shards {','.join(map(short, needs))}",),
            tuple(needs),
        )

    def _hurt(self) -> bool:
        """Whether a selected shard, or the whole consumer, is harmed at the next start."""
        return any(
            self._selected.concerns(replace(e, by=())) and not acceptable(e, self._case.tolerated)
            for run in self._starts.effects for e in run
        )


def relation(lineage: Lineage, shard: ShardId, selected: frozenset[ShardId]) -> str:
    """How a shard is related to a selected one, in words."""
    near = in_birth_order(dict.fromkeys(selected))
    for other in near:
        if other in lineage and shard in lineage[other].parents:
            return f"a parent of {other}"
    for other in near:
        for child in lineage.children(other) if other in lineage else ():
            if shard == child:
                return f"a child of {other}"
            if shard in lineage[child].parents:
                return f"the other parent of {child}, beside {other}"
    for other in near:
        above = lineage.ancestors(other) if other in lineage else ()
        if any(shard == one or shard in lineage[one].parents for one in above):
            return f"an ancestor of {other}"
        if other in lineage and shard in lineage.descendants(other):
            return f"a descendant of {other}"
    return "related to what is selected"
