"""Sinks that hold a random part of a case's records, and what an audit would count in them.

Written from the words of `reshardctl.auditing.facts`, apart from the code that counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from msgspec.structs import replace

from reshardctl.auditing.facts import Compared, Facts, InSink, Record
from reshardctl.model import ShardId
from tests.support.case import Case
from tests.support.case_stream import CaseShard, shard_name
from tests.support.case_stream import Record as Stored

Held = Mapping[str, frozenset[str]]
"""Payloads in the sink, by shard id."""


def horizon(case: Case) -> float:
    """Epoch seconds before which the stream holds nothing any more."""
    trim = case.stream["created"] + case.stream["trim"]
    return max(trim, case.now - case.retention_hours * 3600)


def left(case: Case, shard: CaseShard) -> list[Stored]:
    """What the stream still holds of a shard."""
    return [one for one in shard.records if one[2] >= horizon(case)] if shard.listed else []


def drawn(case: Case, rng: Random, holes: bool = True) -> dict[str, frozenset[str]]:
    """For every shard a random prefix of all that it ever held, now and then with holes."""
    found = {}
    for shard in case.topology.values():
        payloads = [payload for _, payload, _ in shard.records]
        reach = rng.choice((0, len(payloads), rng.randint(0, len(payloads))))
        kept = payloads[:reach]
        if holes and rng.random() < 0.4:
            kept = [payload for payload in kept if rng.random() < 0.6]
        found[shard_name(shard.id)] = frozenset(kept)
    return found


def missing(case: Case, sink: Held) -> dict[str, set[str]]:
    """What the stream still holds and the sink does not, shard by shard."""
    return {
        shard_name(shard.id): {p for _, p, _ in left(case, shard)} - sink[shard_name(shard.id)]
        for shard in case.topology.values() if shard.listed
    }


def facts(
    case: Case, sink: Held, *, streamed: bool = True, proofs: bool = False,
    batch: int | None = None, cut: Random | None = None,
) -> Facts:
    """What an audit would find. proofs: the sink's commits prove all that lies below its holes.
    cut: the stream is read, but of some shards to a random record only, or not at all."""
    inside, compared = {}, {}
    for shard in case.topology.values():
        name = ShardId(shard_name(shard.id))
        rows = [one for one in shard.records if one[1] in sink[name]]
        if rows:
            inside[name] = _inside(name, shard, rows, proofs)
        if streamed and shard.listed:
            window = left(case, shard)
            short = cut is not None and cut.random() < 0.3
            read = window[: cut.randint(0, len(window))] if cut and short else window
            whole = len(window) == len(shard.records)
            found = _compared(name, shard, read, sink[name], whole=whole)
            compared[name] = _cut_short(found) if short else found
    count = sum(one.rows for one in inside.values())
    return Facts(
        "s3://lake/orders", "parquet", float(case.now), count, inside, compared=compared,
        batch=batch,
    )


def _inside(name: ShardId, shard: CaseShard, rows: list[Stored], proofs: bool) -> InSink:
    proven = None
    for one in shard.records if proofs else ():
        if one not in rows:
            break
        proven = _record(one)
    return InSink(
        name, len(rows), _record(rows[0]), _record(rows[-1]), 0, 0, proven=proven,
        proof="the file sink's log" if proven else "",
    )


def _cut_short(one: Compared) -> Compared:
    return replace(one, ended=False, tip=False, short="the reading was refused")


def _compared(
    name: ShardId, shard: CaseShard, window: list[Stored], sink: frozenset[str], *, whole: bool
) -> Compared:
    lost = [one for one in window if one[1] not in sink]
    before = [one for one in window if lost and one[0] < lost[0][0]]
    return Compared(
        name, len(window), len(lost),
        _record(window[0]) if window else None, _record(window[-1]) if window else None,
        whole=whole, ended=bool(shard.end), tip=not shard.end,
        first_missing=_record(lost[0]) if lost else None,
        last_missing=_record(lost[-1]) if lost else None,
        before_missing=_record(before[-1]) if before else None,
    )


def _record(one: Stored) -> Record:
    return Record(one[0], 0, float(one[2]))
