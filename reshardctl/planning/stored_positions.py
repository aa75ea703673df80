"""A consumer's positions as data: where each shard stands, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.model import Basis, Cut, ShardId, in_birth_order
from reshardctl.planning.effects import moment
from reshardctl.planning.judged_case import Case, processed_frontier


@dataclass(frozen=True, slots=True)
class StoredPosition:
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
