"""Checks positions that the operator gives against the stream, and resolves them to cuts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reshardctl.codec.values import AT, kind_of
from reshardctl.consumers.sequence_numbers import NumberKind, classify
from reshardctl.consumers.spec import BASIC_KINDS
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import UsageError
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cut,
    Rank,
    ShardId,
    decode,
    short,
)
from reshardctl.model.phrases import listed
from reshardctl.model.times import duration, instant, same_second
from reshardctl.planning.as_given import StoredPosition, stored_positions, times_back
from reshardctl.planning.case import Case
from reshardctl.planning.policy import GivenPosition, GivenPositions, Policy
from reshardctl.report.report import RepairOptions, case_of
from reshardctl.snapshot.at_time import at_time

NAMED = 5
"""Shards that a note names before it says how many more there are."""


def resolved_positions(policy: Policy, snapshot: Snapshot, stream: object) -> Policy:
    """The policy with a cut for each shard that is to be moved.

    UsageError for a position that this stream or this consumer cannot have; CannotTell if a time
    was not found within the reads allowed.
    """
    given = policy.given
    assert given is not None
    case = case_of(snapshot, RepairOptions())
    now = {position.shard: position for position in stored_positions(case)}
    if given.back is not None:
        places, notes = _moved_back(case, now, given.back, stream)
    else:
        _require_same_stream(given, case)
        places, notes = _checked(case, now, given, stream)
    moved = {shard: cut for shard, cut in places.items() if not _stands(now.get(shard), cut)}
    return replace(policy, given=None, places=moved, notes=tuple(notes))


def _require_same_stream(given: GivenPositions, case: Case) -> None:
    stream = case.state.lineage.stream
    if given.arn is None or given.created is None:
        return
    if given.arn != stream.arn or not same_second(given.created, stream.created):
        raise UsageError(
            f"{given.source}: its positions are of {given.arn}, created {instant(given.created)}, "
            f"and not of {stream.arn}, created {instant(stream.created)}",
            "export the positions of this stream",
        )


def _stands(position: StoredPosition | None, cut: Cut) -> bool:
    """Whether the store spells this position already."""
    return position is not None and position.basis is Basis.STORED and position.cut == cut


def _checked(
    case: Case, now: Mapping[ShardId, StoredPosition], given: GivenPositions, stream: object
) -> tuple[dict[ShardId, Cut], list[str]]:
    places: dict[ShardId, Cut] = {}
    unstored: list[ShardId] = []
    expired: list[ShardId] = []
    for position in given.positions:
        shard = position.shard
        stored = now.get(shard)
        if position.basis is not Basis.STORED:
            unstored.append(shard)
        elif position.text is not None and stored is not None and stored.text == position.text:
            continue
        elif given.whole and shard not in case.state.lineage:
            expired.append(shard)
        else:
            places[shard] = _Check(case, position, stream).cut()
    notes = []
    if unstored:
        notes.append(f"{given.source} has no stored position of {_named(unstored)}: left alone")
    if expired:
        notes.append(f"{_named(expired)} of {given.source} is not listed any more: left alone")
    return places, notes


@dataclass(frozen=True, slots=True)
class _Check:
    """One position that is to be written."""

    case: Case
    position: GivenPosition
    stream: object

    def cut(self) -> Cut:
        """The cut to be wanted. UsageError for one that the shard or the consumer cannot have."""
        shard, cut, lineage = self.position.shard, self.position.cut, self.case.state.lineage
        if shard not in lineage:
            raise self._wrong(
                f"stream {lineage.stream.name} lists no such shard", "leave it out; "
                "reshardctl export lists what is there",
            )
        if cut is None:
            raise self._wrong("what was stored is no place of the shard", "give another position")
        if cut.by_time:
            return self._at(cut.time)
        spec = self.case.consumer.spec
        if (kind := kind_of(cut)) not in BASIC_KINDS | spec.kinds:
            known = ", ".join(sorted(BASIC_KINDS | spec.kinds))
            raise self._wrong(f"{spec.name} cannot store {kind}", f"it stores {known}")
        if cut == DONE and lineage.is_open(shard):
            raise self._wrong("the shard is open and has no end yet", "give a number")
        if cut == TIP and not lineage.is_open(shard):
            raise self._wrong("the shard is closed: its tip is its end", "give SHARD_END")
        if cut.rank is not Rank.INSIDE:
            return self._ended(cut) if cut == DONE else cut
        return self._inside(cut)

    def _ended(self, cut: Cut) -> Cut:
        """The end, with the last record's number if it is one of the shard."""
        known = classify(self.case.state.lineage, self.position.shard, cut.text)
        return cut if known is NumberKind.INSIDE else DONE

    def _inside(self, cut: Cut) -> Cut:
        lineage, shard = self.case.state.lineage, self.position.shard
        text = cut.text or str(cut.number)
        match kind := classify(lineage, shard, text):
            case NumberKind.START:
                return START
            case NumberKind.AT_END:
                return DONE
            case NumberKind.INSIDE:
                self._require_parts(cut)
                return cut
            case _:
                raise self._no_number(text, kind)

    def _no_number(self, text: str, kind: NumberKind) -> UsageError:
        decoded, shard = decode(text), self.position.shard
        if kind is NumberKind.AHEAD:
            why = f"{text} lies in the future: no record has it"
        elif decoded is not None and shard != f"shardId-{decoded.shard:012d}":
            why = f"{text} is a number of shard {decoded.shard}"
        else:
            why = f"{text} is no number of this shard"
        return self._wrong(why, "look at the numbers that are stored: reshardctl export")

    def _require_parts(self, cut: Cut) -> None:
        consumer = self.case.consumer
        holds = all(consumer.holds_parts(c.app) for c in self.case.candidates)
        if cut.sub > 0 and not holds:
            raise self._wrong(
                f"{consumer.spec.name} cannot store sub-sequence number {cut.sub}",
                f"leave it out to skip the rest of the record, or give {AT} where it is stored",
            )

    def _at(self, time: float | None) -> Cut:
        if time is None:
            raise self._wrong("it has no time", "e.g. AT_TIMESTAMP:2026-09-22T09:14:00Z")
        if time > self.case.state.now:
            raise self._wrong(f"{instant(time)} is in the future", "give a time before now")
        return at_time(self.case.state, self.stream, self.position.shard, time, self._where).at

    @property
    def _where(self) -> str:
        return self.position.where

    def _wrong(self, why: str, way_out: str) -> UsageError:
        return UsageError(f"{self._where}: {why}", way_out)


def _moved_back(
    case: Case, now: Mapping[ShardId, StoredPosition], back: float, stream: object
) -> tuple[dict[ShardId, Cut], list[str]]:
    what, places, early = f"--shift -{duration(back)}", dict[ShardId, Cut](), list[ShardId]()
    for shard, time in times_back(case.state, now, back).items():
        if shard not in case.state.lineage:
            continue
        resolved = at_time(case.state, stream, shard, time, what)
        early += [shard] if resolved.early else []
        cut = now[shard].cut
        assert cut is not None, "its time was taken from it"
        if resolved.at < cut:
            places[shard] = resolved.at
    notes = [f"the reads allowed ran out in {_named(early)}: the start lies earlier there"]
    return places, notes if early else []


def _named(shards: Iterable[ShardId]) -> str:
    return f"shard {listed(list(shards), NAMED, short)}"
