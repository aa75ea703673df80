"""Resolves what the operator wants to sequence numbers: a policy's time, and given positions.

A time becomes the shards open at it and their positions, read from the stream. Given positions are
checked against the stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from reshardctl.codec.values import AT, kind_of
from reshardctl.consumers.sequence_numbers import NumberKind, classify
from reshardctl.consumers.spec import BASIC_KINDS
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import CannotTell, UsageError, command_line
from reshardctl.lineage import Lineage
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Basis,
    Cut,
    PositionAtTime,
    Rank,
    ShardId,
    decode,
    short,
)
from reshardctl.model.cuts import ARRIVAL_SLACK
from reshardctl.model.phrases import listed
from reshardctl.model.times import When, duration, instant, same_second
from reshardctl.planning.as_given import StoredPosition, stored_positions, times_back
from reshardctl.planning.case import Case
from reshardctl.planning.effects import StreamState
from reshardctl.planning.policy import GivenPosition, GivenPositions, Policy
from reshardctl.render.escape import cell
from reshardctl.report.report import RepairOptions, case_of
from reshardctl.snapshot.positions import place_of
from reshardctl.snapshot.take import Stream

NAMED = 5
"""Shards that a note names before it says how many more there are."""


def resolved(policy: Policy, snapshot: Snapshot, stream: Stream, asked: str = "") -> Policy:
    """A policy by time, with that time and its positions.

    asked: the option and its value, for messages, if it is not `--policy`. UsageError for a time
    outside the stream, CannotTell if the allowed reads did not suffice.
    """
    assert policy.when is not None
    lineage = snapshot.lineage
    asked = asked or f"--policy {policy.text}"
    time = moment_of(policy.when, lineage, snapshot.now, asked)
    opened = open_at(lineage, time)
    if (kept := snapshot.now - lineage.stream.retention) > time:
        note = (
            f"{instant(time)} is before the oldest record that the stream keeps (since "
            f"{instant(kept)}): every shard starts at its beginning"
        )
        return replace(policy, since=time, places=dict.fromkeys(opened, START), notes=(note,))
    if stream.records is None:
        raise UsageError(
            f"{asked} has to read records, which neither a snapshot nor files hold",
            "name the consumer and --stream instead",
        )
    positions = stream.records.places(lineage.stream.arn, opened, time)
    if lost := [shard for shard in opened if positions[shard] is None]:
        raise CannotTell(
            f"{asked}: where {_named(lost)} stood at {instant(time)} was not found "
            "within the reads allowed",
            "allow more: --probe-budget calls=10000,time=10m",
        )
    places = {shard: position for shard, position in positions.items() if position is not None}
    cuts = {shard: DONE if _over(lineage, shard, p, time) else p.at for shard, p in places.items()}
    return replace(
        policy, since=time, places=cuts, notes=tuple(_notes(policy, time, places, lineage))
    )


def with_ends(policy: Policy, snapshot: Snapshot, stream: Stream) -> Policy:
    """The policy with the last record of every shard that it takes as over, where it can be read.

    Some stores mark a shard as over by that record's number (`Spec.ends_by_number`). A shard whose
    last record is not reached within the reads allowed has none.
    """
    if not policy.skips or policy.names_shards or stream.records is None:
        return policy
    lineage, ends = snapshot.lineage, dict(policy.places)
    for shard in lineage:
        closed = lineage.closed_at(shard)
        if closed is None or not policy.takes_as_over(lineage, shard):
            continue
        asked = {shard: lineage.opened_at(shard)}
        places = stream.records.places(lineage.stream.arn, asked, closed + ARRIVAL_SLACK)
        position = places[shard]
        if position is not None and position.nothing_after:
            ends[shard] = replace(DONE, text=str(position.at))
    return replace(policy, places=ends)


def moment_of(when: When, lineage: Lineage, now: float, asked: str) -> float:
    """Unix seconds of the time, whole if it is relative: what is printed is what is meant.

    asked: the option and its value, for messages.
    """
    stream = lineage.stream
    if when.reshard:
        return resharded_at(lineage)
    time = when.at if when.at is not None else float(floor(now - (when.ago or 0.0)))
    if time > now:
        raise UsageError(
            f"{asked} is in the future: it is {instant(now)} now",
            "--policy latest starts from now on",
        )
    if time < stream.created:
        raise UsageError(
            f"{asked}: stream {stream.name} was created later, at "
            f"{instant(stream.created)}",
            "give that time, or a later one: "
            f"{asked.removesuffix(when.text)}{instant(stream.created)}",
        )
    return time


def resharded_at(lineage: Lineage) -> float:
    """Unix second of the close of the shards that closed last.

    If those are no longer listed it follows from their children, which open a second later.
    """
    closes = [c for s in lineage if (c := lineage.closed_at(s)) is not None]
    births = [o - 1 for s in lineage if lineage[s].parents and (o := lineage.opened_at(s))]
    if not closes and not births:
        raise UsageError(
            f"@reshard: no shard of stream {lineage.stream.name} was ever split or merged, as far "
            "as they are listed",
            "give a time in its place, as in 2026-09-22T09:14:00Z or -90m",
        )
    return max([*closes, *births])


def open_at(lineage: Lineage, time: float) -> dict[ShardId, float | None]:
    """The shards that may hold records from both sides of the time, each with its opening.

    A record arrives up to ARRIVAL_SLACK after the second in its number, so a shard may close with
    records in it that arrived after its close.
    """
    open_shards: dict[ShardId, float | None] = {}
    for shard in lineage:
        opened, closed = lineage.opened_at(shard), lineage.closed_at(shard)
        if opened is not None and opened >= time:
            continue
        if lineage.is_open(shard) or closed is None or closed + ARRIVAL_SLACK > time:
            open_shards[shard] = opened
    return open_shards


def _over(lineage: Lineage, shard: ShardId, position: PositionAtTime, time: float) -> bool:
    """Whether the shard closed before the time and holds nothing that arrived since."""
    closed = lineage.closed_at(shard)
    return closed is not None and closed <= time and position.nothing_after


def _notes(
    policy: Policy, time: float, places: Mapping[ShardId, PositionAtTime], lineage: Lineage
) -> Iterator[str]:
    late = sum(1 for s in lineage if (lineage.opened_at(s) or 0.0) >= time)
    born = f"; {late} opened later, to be read from the beginning" if late else ""
    there = sum(not _over(lineage, shard, position, time) for shard, position in places.items())
    shards = "1 shard was open" if there == 1 else f"{there} shards were open"
    yield f"policy {policy.text}: {shards} at {instant(time)}{born}"
    if early := [shard for shard, position in places.items() if position.early]:
        yield (
            f"the reads allowed ran out before {instant(time)} was reached in {_named(early)}: "
            "there the start lies earlier and more is re-read; --probe-budget allows more"
        )


def _named(shards: Iterable[ShardId]) -> str:
    return f"shard {listed(list(shards), NAMED, short)}"


def at_time(
    state: StreamState, stream: Stream, shard: ShardId, time: float, what: str
) -> PositionAtTime:
    """The cut before the first record that arrived at or after the time (Unix seconds).

    The shard's beginning, if it opened later or the stream keeps nothing so old. what: the request,
    for messages. UsageError if the stream is a snapshot, CannotTell if the allowed reads did not
    suffice.
    """
    opened = state.lineage.opened_at(shard)
    if (opened is not None and opened >= time) or time < state.now - state.lineage.stream.retention:
        return PositionAtTime(START)
    if stream.records is None:
        raise UsageError(
            f"{what} has to read records, which neither a snapshot nor files hold",
            "name the consumer and --stream instead",
        )
    arn = state.lineage.stream.arn
    position = stream.records.places(arn, {shard: opened}, time)[shard]
    if position is None:
        raise CannotTell(
            f"{what}: where {shard} stood at {instant(time)} was not found within the reads "
            "allowed", "allow more: --probe-budget calls=10000,time=10m",
        )
    return position


def resolved_positions(policy: Policy, snapshot: Snapshot, stream: Stream) -> Policy:
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
        places, notes = _checked(case, now, given, stream, snapshot.words)
    moved = {shard: cut for shard, cut in places.items() if not _stands(now.get(shard), cut)}
    shifts = given.back is not None
    return replace(policy, given=None, places=moved, notes=tuple(notes), shifts=shifts)


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
    case: Case, now: Mapping[ShardId, StoredPosition], given: GivenPositions, stream: Stream,
    words: Sequence[str],
) -> tuple[dict[ShardId, Cut], list[str]]:
    """What is to be moved where, and remarks. words: the arguments that name the consumer."""
    places: dict[ShardId, Cut] = {}
    unstored: list[ShardId] = []
    expired: list[ShardId] = []
    for position in given.positions:
        shard = position.shard
        stored = now.get(shard)
        if position.basis is not Basis.STORED:
            unstored.append(shard)
        elif stored is not None and _same_text(position.text, stored.text):
            if not given.whole and shard in case.state.lineage:
                _require_as_stored(position, stored)
        elif given.whole and shard not in case.state.lineage:
            expired.append(shard)
        else:
            places[shard] = _Check(case, position, stream, words).cut()
    notes = []
    if unstored:
        notes.append(f"{given.source} has no stored position of {_named(unstored)}: left alone")
    if expired:
        notes.append(f"{_named(expired)} of {given.source} is not listed any more: left alone")
    return places, notes


def _same_text(given: str | None, stored: str | None) -> bool:
    """Whether both are one stored text; a CSV file has it without control characters."""
    return given is not None and stored is not None and given in (stored, cell(stored))


def _require_as_stored(position: GivenPosition, stored: StoredPosition) -> None:
    """UsageError if an entry names another position than its `stored`, which the store holds.

    Such an entry was edited, and its `stored` left as it was.
    """
    if position.cut is None:
        return
    given, held = place_of(position.cut), place_of(stored.cut)
    edited = [name for name, value in given.items() if value != held[name]]
    if edited:
        raise UsageError(
            f"{position.where}: {', '.join(edited)} {'differs' if len(edited) == 1 else 'differ'} "
            "from stored, which the store holds; nothing was written",
            "to move the shard, clear stored in that entry; else take the entry out",
        )


class _Check(Struct, frozen=True):
    """One position that is to be written."""

    case: Case
    position: GivenPosition
    stream: Stream
    words: Sequence[str]

    def cut(self) -> Cut:
        """The cut to be wanted. UsageError for one that the shard or the consumer cannot have."""
        shard, cut, lineage = self.position.shard, self.position.cut, self.case.state.lineage
        if shard not in lineage:
            status = command_line("reshardctl", "status", *self.words)
            raise self._wrong(
                f"stream {lineage.stream.name} lists no such shard",
                f"leave it out; which there are: {status}",
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
        export = command_line("reshardctl", "export", *self.words)
        return self._wrong(why, f"look at the numbers that are stored: {export}")

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
    case: Case, now: Mapping[ShardId, StoredPosition], back: float, stream: Stream
) -> tuple[dict[ShardId, Cut], list[str]]:
    what, places, early = f"--shift -{duration(back)}", dict[ShardId, Cut](), list[ShardId]()
    for shard, time in times_back(case.state, now, back).items():
        resolved = at_time(case.state, stream, shard, time, what)
        early += [shard] if resolved.early else []
        cut = now[shard].cut
        assert cut is not None, "its time was taken from it"
        if resolved.at < cut:
            places[shard] = resolved.at
    notes = [f"the reads allowed ran out in {_named(early)}: the start lies earlier there"]
    return places, notes if early else []
