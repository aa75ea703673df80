"""Decisions on positions that the operator gives: which rows to leave alone, and what to refuse.

Given positions are compared with the stored ones, which are data here: where each shard stands, and
what that rests on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reshardctl.codec.values import kind_of, number_of
from reshardctl.model import (
    DONE,
    TIP,
    Basis,
    Cut,
    Fate,
    ShardId,
    Simulation,
    TargetFrontier,
    WillRead,
    in_birth_order,
    short,
)
from reshardctl.model.phrases import listed_shards
from reshardctl.planning.case import Case, Judged, processed_frontier
from reshardctl.planning.decision import NoSafePlan
from reshardctl.planning.effects import Effect, StreamState, has_unread, moment
from reshardctl.planning.prices import by_place, price

NAMED = 5
"""Shards that a reason names before it counts the rest."""


class StoredPosition(Struct, frozen=True):
    """One shard's position.

    cut: `None` for a stored position that names no place of the shard. time: Unix seconds at which
    the stream had reached the position, if that is known. basis: STORED for what the store spells;
    otherwise the store has no position of the shard, and the cut is how far it has certainly been
    read. text: as the store spells it.
    """

    shard: ShardId
    cut: Cut | None
    time: float | None
    basis: Basis
    text: str | None


def stored_positions(case: Case) -> list[StoredPosition]:
    """The position of every listed shard and of every stored row, parents before children."""
    lineage, checkpoint = case.state.lineage, case.checkpoint()
    texts = case.consumer.positions(checkpoint)
    stored = case.consumer.stored_cuts(lineage, checkpoint, case.candidates[0].app)
    processed = processed_frontier(case)
    positions = []
    for shard in in_birth_order(dict.fromkeys([*processed, *texts])):
        text, span = texts.get(shard), processed.get(shard)
        if text is not None or span is None:
            cut, basis = stored.get(shard), Basis.STORED
        else:
            cut, basis = span.lo, Basis.INFERRED if span.basis is Basis.STORED else span.basis
        time = None if cut is None else moment(case.state, shard, cut)
        positions.append(StoredPosition(shard, cut, time, basis, text))
    return positions


def times_back(
    state: StreamState, positions: Mapping[ShardId, StoredPosition], back: float
) -> dict[ShardId, float]:
    """The Unix second to which each shard's reading goes back.

    A shard that is read to its end goes back only as far as the shards below it do: not at all if
    they stay after its end.
    """
    lineage, times = state.lineage, dict[ShardId, float]()
    for shard in reversed(list(lineage)):
        position = positions.get(shard)
        if position is None or position.cut is None:
            continue
        if position.cut != DONE:
            time = state.now if position.cut == TIP else position.time
            if time is not None:
                times[shard] = time - back
            continue
        below = [times[child] for child in lineage.children(shard) if child in times]
        closed = lineage.closed_at(shard)
        if below and closed is not None and min(below) < closed:
            times[shard] = min(below)
    return times


def not_held(
    state: StreamState, places: Mapping[ShardId, Cut], leave: Collection[ShardId], run: Simulation
) -> Iterator[tuple[ShardId, str]]:
    """The shards that a start does not read from where they were given, each with the reason."""
    for shard, cut in places.items():
        fate = run.fates.get(shard)
        if shard not in leave and not _held(state, shard, cut, fate):
            yield shard, "it is not read" if fate is None else fate.why


def why_not_held(shards: Mapping[ShardId, str], places: Mapping[ShardId, Cut]) -> str:
    """The reason of a decision, for the first of these shards."""
    shard, why = next(iter(shards.items()))
    more = f", nor those of {len(shards) - 1} more shards" if len(shards) > 1 else ""
    because = f" ({why})" if why else ""
    words = number_of(places[shard]) or kind_of(places[shard])
    return f"the store cannot hold {words} as the position of {short(shard)}{more}{because}"


def _held(state: StreamState, shard: ShardId, cut: Cut, fate: Fate | None) -> bool:
    if cut == DONE:
        return not isinstance(fate, WillRead) or not has_unread(state, shard, fate.at.lo)
    return isinstance(fate, WillRead) and fate.at.lo <= cut and fate.at.hi <= cut


def not_as_given(case: Case, leave: Collection[ShardId], run: Judged) -> NoSafePlan | None:
    """The answer if a start does not read the shards from where the operator wants them."""
    places = case.policy.places
    if not case.policy.names_shards or run.simulation.crash is not None:
        return None
    if not (wrong := dict(not_held(case.state, places, leave, run.simulation))):
        return None
    if absent := _children_without_row(case, wrong, places):
        more = " ".join(f"--set {short(child)}=TRIM_HORIZON" for child in absent)
        named = listed_shards(absent, NAMED)
        return NoSafePlan(
            f"{why_not_held(wrong, places)} while it has none of {named}",
            (f"give them one, too: {more}",),
        )
    return NoSafePlan(why_not_held(wrong, places), ("give those shards another position",))


def _children_without_row(
    case: Case, shards: Collection[ShardId], places: Mapping[ShardId, Cut]
) -> list[ShardId]:
    """The children, neither stored nor given, of those shards that are given their end."""
    stored, lineage = case.consumer.positions(case.checkpoint()), case.state.lineage
    return [
        child for shard in shards if places[shard] == DONE for child in lineage.children(shard)
        if child not in stored and child not in places
    ]


def not_given(case: Case, want: TargetFrontier, checkpoint: Any) -> set[ShardId]:
    """The shards that are left alone because the operator names others."""
    if not case.policy.names_shards:
        return set()
    return (want.keys() | case.consumer.positions(checkpoint).keys()) - case.policy.places.keys()


def stored_as_given(case: Case) -> bool:
    """Whether the operator gives positions, and the rows hold all of them already."""
    places = case.policy.places
    if not case.policy.names_shards:
        return False
    app = case.candidates[0].app
    stored = case.consumer.stored_cuts(case.state.lineage, case.checkpoint(), app)
    return all(stored.get(shard) == cut for shard, cut in places.items())


def unsaid(
    case: Case, costs: Sequence[Effect], before: Sequence[Effect]
) -> tuple[Effect, ...]:
    """What the policy skips that its name does not take: consent is asked for it, too.

    That is all that given positions skip, and of another policy what a limit was named for.
    """
    limited = case.accept is not None and case.accept.names_skip
    return price(costs, by_place(before)) if case.policy.names_shards or limited else ()
