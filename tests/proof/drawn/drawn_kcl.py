"""KCL's lease tables: what the reference worker leaves when it is killed, then damaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from reshardctl.model.times import instant
from tests.proof.drawn.damages import (
    COMMON,
    HOSTILE,
    Damage,
    Forged,
    Value,
    World,
    come_home,
    damaged,
    twin,
)
from tests.proof.drawn.drawn_go import _drawn
from tests.proof.drawn.states import Rows, State, Stream, spelled_out
from tests.proof.exhaustive.direct import Direct
from tests.proof.exhaustive.healthy import Growing
from tests.proof.reference.kcl import Run, Worker
from tests.proof.reference.kcl_cleanup import clean_up
from tests.proof.reference.kcl_stream import Initial, Source
from tests.proof.reference.kcl_tables import run_beside
from tests.support.case import Case
from tests.support.case_stream import shard_name
from tests.support.case_tables import stored


class LeaseShape:
    """`checkpoint` of a lease."""

    marks = ("LATEST", "LATEST", "TRIM_HORIZON", "TRIM_HORIZON", "SHARD_END", "AT_TIMESTAMP", "0")
    apart = frozenset({"leaseKey"})

    def shards(self, rows: Rows) -> dict[str, str]:
        return {k: k.rpartition(":")[2] for k in rows if "shardId-" in k}

    def position(self, row: Mapping[str, Any]) -> Value | None:
        return row.get("checkpoint")

    def place(self, row: dict[str, Any], value: Value | None) -> None:
        row.pop("checkpoint", None)
        if value is not None:
            row["checkpoint"] = value


def end(rng: Random, rows: Rows, world: World) -> Forged:
    """A closed shard is put to its end by hand, or with a rest of a sub-sequence number."""
    keys = [k for k in world.keys(rows) if _closed(world, k)]
    if keys:
        key = rng.choice(keys)
        rows[key] |= {"checkpoint": {"S": "SHARD_END"},
                      "checkpointSubSequenceNumber": {"N": rng.choice(("0", "0", "3"))}}
        return (world.shape.shards(rows)[key],)
    return ()


def parents(rng: Random, rows: Rows, world: World) -> Forged:
    """A row names other parents: none, one of two, an open shard, itself."""
    if keys := world.keys(rows):
        row = rows[rng.choice(keys)]
        named = sorted(row.get("parentShardId", {}).get("SS", []))
        every = sorted(map(shard_name, world.case.topology))
        chosen = rng.choice((
            [], named[:1], named[1:], [rng.choice(every)], [shard_name(len(every) + 3)],
        ))
        row.pop("parentShardId", None)
        if chosen:
            row["parentShardId"] = {"SS": chosen}
    return ()


def children(rng: Random, rows: Rows, world: World) -> Forged:
    """The children that a row names are gone, or others."""
    keys = [k for k in world.keys(rows) if "childShardIds" in rows[k]]
    if keys:
        row = rows[rng.choice(keys)]
        del row["childShardIds"]
        if rng.random() < 0.3:
            named = shard_name(rng.choice(sorted(world.case.topology)))
            row["childShardIds"] = {"SS": [named]}
    return ()


def half_migrated(rng: Random, rows: Rows, world: World) -> Forged:
    """Rows of an earlier release, or of a later one, beside those of this one."""
    way = rng.randrange(3)
    for key in world.keys(rows):
        if rng.random() < 0.5:
            if way == 0:
                for name in ("startingHashKey", "endingHashKey", "childShardIds"):
                    rows[key].pop(name, None)
            elif way == 1:
                rows[key] |= {"entityType": {"S": "LEASE"}, "throughputKBps": {"N": "0.0"}}
            else:
                rows[key].pop("checkpointSubSequenceNumber", None)
    return ()


def hashes(rng: Random, rows: Rows, world: World) -> Forged:
    """Hash keys that were typed: of another shard, turned round, no numbers, one missing."""
    if keys := world.keys(rows):
        row, other = rows[rng.choice(keys)], rows[rng.choice(keys)]
        low, high = row.get("startingHashKey", {}), row.get("endingHashKey", {})
        if "S" in low and "S" in high:
            changes: tuple[dict[str, Any], ...] = (
                {"startingHashKey": high, "endingHashKey": low},
                {"startingHashKey": {"S": "abc"}}, {"endingHashKey": {"S": "8.5E37"}},
                {"endingHashKey": {"NULL": True}}, {"startingHashKey": {"N": low["S"][:30]}},
                {n: other[n] for n in ("startingHashKey", "endingHashKey") if n in other},
            )
            row |= rng.choice(changes)
            if rng.random() < 0.2:
                del row["startingHashKey"]
    return ()


def pending(rng: Random, rows: Rows, world: World) -> Forged:
    """Prepared and never made, of a right or a wrong type; or a hand-off that nobody ended."""
    if keys := world.keys(rows):
        row = rows[rng.choice(keys)]
        row |= rng.choice((
            {"pendingCheckpoint": {"S": "TRIM_HORIZON"},
             "pendingCheckpointSubSequenceNumber": {"N": "0"}},
            {"pendingCheckpoint": row.get("checkpoint", {"S": "LATEST"}),
             "pendingCheckpointSubSequenceNumber": {"N": "0"},
             "pendingCheckpointState": {"B": "c3Qx"}},
            {"pendingCheckpointState": {"S": "st1"}},
            {"checkpointOwner": {"NULL": True}}, {"throughputKBps": {"NULL": True}},
            {"ownerSwitchesSinceCheckpoint": {"S": "0"}}, {"leaseOwner": {"NULL": True}},
            {"leaseCounter": {"N": "9223372036854775808"}},
            {"checkpointSubSequenceNumber": {"S": "0"}},
            {"checkpointSubSequenceNumber": {"NULL": True}},
            {"checkpointSubSequenceNumber": {"N": "1.5"}},
        ))
    return ()


def strangers(rng: Random, rows: Rows, world: World) -> Forged:
    """Rows that are no lease, or of shards that are not there."""
    gone = shard_name(max(world.case.topology) + rng.choice((1, 5)))
    base = {"leaseCounter": {"N": "3"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
            "checkpoint": {"S": "TRIM_HORIZON"}, "checkpointSubSequenceNumber": {"N": "0"}}
    key, row = rng.choice((
        ("note", {"text": {"S": "do not touch"}}), ("note", base), (gone, base),
        (gone, base | {"checkpoint": {"S": "SHARD_END"}}), (f"{shard_name(0)}-old", base),
    ))
    rows[key] = {"leaseKey": {"S": key}, **deepcopy(row)}
    return ()


def gone_with_parents(rng: Random, rows: Rows, world: World) -> Forged:
    """The row of a shard that is not listed any more names parents: itself, an open shard, its own
    child, any other."""
    if gone := sorted(s.id for s in world.case.topology.values() if not s.listed):
        index, every = rng.choice(gone), world.case.topology
        key = shard_name(index)
        known = [{"S": n} for n in world.records(key)]
        row = rows.setdefault(key, _new(key, rng.choice([{"S": "TRIM_HORIZON"}, *known])))
        open_ones = [s.id for s in every.values() if not s.end]
        named = rng.choice(([index], open_ones, every[index].children, sorted(every)))
        row["parentShardId"] = {"SS": [shard_name(rng.choice(sorted(named)))]}
    return ()


def number_elsewhere(rng: Random, rows: Rows, world: World) -> Forged:
    """A shard's number stands in another's row, and its own says LATEST."""
    shards = world.shape.shards(rows)
    held = [k for k in world.keys(rows) if _place(rows[k]) in world.records(shards[k])]
    if held and len(shards) > 1:
        key = rng.choice(held)
        other = rng.choice([k for k in world.keys(rows) if k != key])
        rows[other]["checkpoint"] = rows[key]["checkpoint"]
        rows[key]["checkpoint"] = {"S": "LATEST"}
    return ()


def other_key(rng: Random, rows: Rows, world: World) -> Forged:
    """A row under a key that is no shard's id, perhaps in the place of the row itself."""
    if keys := world.keys(rows):
        key = rng.choice(keys)
        name = rng.choice((
            f"bak:{key}", f"{key}.bak", f"123456789012:invoices:1795000000:{key}",
        ))
        rows[name] = {**deepcopy(rows[key]), "leaseKey": {"S": name}}
        if rng.random() < 0.5:
            del rows[key]
    return ()


def counters(rng: Random, rows: Rows, world: World) -> Forged:
    """A leaseCounter at the ends of its range."""
    if keys := world.keys(rows):
        for key in rng.sample(keys, rng.choice((1, len(keys)))):
            counter = rng.choice((2**63 - 1, 2**63 - 2, 2**62 + 1, -(2**63), -1, 0))
            rows[key]["leaseCounter"] = {"N": str(counter)}
    return ()


def expired_parent(rng: Random, rows: Rows, world: World) -> Forged:
    """Of a merge whose one parent has expired, the rows of that one and of the child are gone, and
    the other parent is at its beginning."""
    for child in world.case.topology.values():
        gone = [p for p in child.parents if not world.case.topology[p].listed]
        if len(child.parents) == 2 and len(gone) == 1:
            (left,) = set(child.parents) - set(gone)
            for shard in (*gone, *([child.id] if rng.random() < 0.5 else [])):
                rows.pop(shard_name(shard), None)
            key = shard_name(left)
            rows.setdefault(key, _new(key, {}))["checkpoint"] = {"S": "TRIM_HORIZON"}
    return ()


def hostile(rng: Random, rows: Rows, world: World) -> Forged:
    """A text that something would obey, in an attribute that is no place, or as one's name."""
    if keys := world.keys(rows):
        row, text = rows[rng.choice(keys)], {"S": rng.choice(HOSTILE)}
        parents, found = (
            row.get(name, {}).get("SS", []) for name in ("parentShardId", "childShardIds")
        )
        more = text["S"] or "-"  # a set holds no empty string
        row |= rng.choice((
            {"leaseOwner": {"S": more}}, {"note": text}, {more: text}, {"entityType": text},
            {"pendingCheckpoint": text, "pendingCheckpointSubSequenceNumber": {"N": "0"}},
            {"checkpointOwner": {"S": more}}, {"parentShardId": {"SS": sorted({*parents, more})}},
            {"childShardIds": {"SS": sorted({*found, more})}},
        ))
    return ()


def _place(row: Mapping[str, Any]) -> str:
    return str(row.get("checkpoint", {}).get("S", ""))


def _new(key: str, checkpoint: Value) -> dict[str, Any]:
    zero = {"N": "0"}
    return {"leaseKey": {"S": key}, "leaseCounter": {"N": "3"}, "checkpoint": checkpoint,
            "ownerSwitchesSinceCheckpoint": zero, "checkpointSubSequenceNumber": zero}


LATER: dict[str, tuple[Damage, float]] = {
    "parents of a shard that is gone": (gone_with_parents, 2),
    "a number in another row": (number_elsewhere, 2), "another key": (other_key, 2),
    "counters": (counters, 1), "an expired parent": (expired_parent, 3),
}
"""Drawn with dice of their own, after the others, so that a state without one stays as it was."""
SHARE = 0.3
"""Of the states that get one of these."""
LATEST: dict[str, tuple[Damage, float]] = {
    "a twin's numbers": (twin, 3), "hostile text": (hostile, 2),
}
AFTERWARDS = (("later", LATER, SHARE), ("latest", LATEST, 0.2))
COPIED = 0.1
"""Of the states that are of a copy of the table, as it was when the copy was made."""
AT_A_STREAM = frozenset({"another key"})
"""What befalls keys of a table of one stream."""

LEASES: dict[str, tuple[Damage, float]] = {
    **COMMON,
    "ended by hand": (end, 2), "other parents": (parents, 2), "children forgotten": (children, 1),
    "half migrated": (half_migrated, 2), "hash keys": (hashes, 1.5), "pending": (pending, 2.5),
    "strangers": (strangers, 1),
}


def _closed(world: World, key: str) -> bool:
    index = world.place_of(key, {key: {}})
    shard = None if index is None else world.case.topology.get(index)
    return shard is not None and bool(shard.end)


def leases(seed: int, created: int, release: str, family: str,
           only: Sequence[int] | None = None, multi: bool = False, by_time: bool = False) -> State:
    """The state of this seed. multi: the application reads several streams. by_time: it begins at a
    moment of the stream's life."""
    way = (" multi" if multi else "") + (" by time" if by_time else "")
    rng = Random(f"kcl {release} {seed}{way}")
    stream = spelled_out(_drawn(rng.randrange(2**32)), created)
    initial = rng.choice(("TRIM_HORIZON", "LATEST"))
    if by_time:
        initial = f"AT_TIMESTAMP:{instant(created + rng.choice(_whole(stream)))}"
    options = {"initial": initial, "release": release}
    begun = State("", 0, "kcl", stream, {}, options, {}, (), {})
    case = begun.case
    stages, reads = _left(rng, case, begun.starting, release)
    name = f"damage kcl {release} {seed}{' by time' if by_time else ''}"
    copied = _copied(Random(f"copied {name}{way}"), stages)
    honest, read = stages[-1], reads[len(stages) - 1]
    world = World(case, LeaseShape(), stages[:-1])
    damages: tuple[str, ...] = ()
    rows, forged = honest, frozenset[str]()
    last = 0
    if rng.random() >= 0.05:
        last = len(damaged(name, honest, world, LEASES)[1])
        places = None if only is None else [place for place in only if place < last]
        rows, damages, forged = damaged(name, honest, world, LEASES, places)
    for word, choice, share in AFTERWARDS:
        dice = Random(f"{word} {name}{way}")
        if dice.random() >= share:
            continue
        place, last = last, last + 1
        if only is not None and place not in only:
            continue
        if choice is LATER:
            stream = _expired(dice, stream)
            case = State("", 0, "kcl", stream, {}, options, {}, (), {}).case
            world = World(case, LeaseShape(), stages[:-1])
        ways = {n: w for n, w in choice.items() if not (multi and n in AT_A_STREAM)}
        rows, more, false = damaged(f"{word} {name}", rows, world, ways)
        damages, forged = (*damages, *more), forged | false
    damages = (*damages, *copied)
    forged |= _begun_at_latest(rows, honest, world) | come_home(case, rows, "checkpoint", read)
    extra: dict[str, Any] = {}
    if multi:
        name = f"123456789012:orders:{created}"
        rows, honest, extra = _named(rows, name), _named(honest, name), {"multi": {}}
    return State(
        family, seed, "kcl", stream, rows, options, read, damages, honest, forged, extra)


def _whole(stream: Stream) -> list[int]:
    """Seconds after the creation, before any worker starts, at which no reshard is under way: the
    first sync refuses shards that leave a hole in the hash keys."""
    closes = {shard["close"] for shard in stream["shards"] if "close" in shard}
    return [t for t in range(stream["now"] // 3) if closes.isdisjoint((t - 1, t, t + 1))]


def _named(rows: Rows, identifier: str) -> Rows:
    """The leases as a multi-stream application stores them, and another stream's beside them."""
    own = {k: row for k, row in rows.items() if "shardId-" in k}
    rest = {k: row for k, row in rows.items() if k not in own}
    found = {f"{identifier}:{key}": stored(row, identifier) for key, row in own.items()}
    other, shard = "123456789012:invoices:1795000000", shard_name(0)
    beside = {
        "leaseKey": {"S": shard}, "checkpoint": {"S": "TRIM_HORIZON"}, "leaseCounter": {"N": "1"},
        "checkpointSubSequenceNumber": {"N": "0"}, "ownerSwitchesSinceCheckpoint": {"N": "0"},
    }
    return found | rest | {f"{other}:{shard}": stored(beside, other)}


def _expired(rng: Random, stream: Stream) -> Stream:
    """The same, but of some merge one parent is not listed any more."""
    closed = {s["id"] for s in stream["shards"] if "close" in s}
    merged = [s["parents"] for s in stream["shards"] if len(s.get("parents", ())) == 2]
    if not merged:
        return stream
    gone = rng.choice(rng.choice(merged))
    shown = deepcopy(stream)
    above = {gone}
    for shard in reversed(shown["shards"]):  # what is above it went before
        if shard["id"] in above and shard["id"] in closed:
            above.update(shard.get("parents", ()))
            shard |= {"trimmed": True, "records": []}
    return shown


def _begun_at_latest(rows: Rows, honest: Rows, world: World) -> frozenset[str]:
    """Shards whose row stands at LATEST again, as an application that starts there leaves it, and
    of which no other row holds a number."""
    latest, numbers = {"S": "LATEST"}, {_place(row) for row in rows.values()}
    return frozenset(
        key for key, row in rows.items()
        if row.get("checkpoint") == latest and honest.get(key, {}).get("checkpoint") != latest
        and numbers.isdisjoint(world.records(key))
    )


def _copied(rng: Random, stages: list[Rows]) -> tuple[str, ...]:
    """Of a table that was copied for a second application while the first went on, the copy.

    Its rows name the first one's worker, or nobody. The stages after it are the first one's alone.
    """
    if rng.random() >= COPIED:
        return ()
    del stages[rng.randrange(len(stages)) + 1 :]
    owner = rng.choice(("blue", None))
    for row in stages[-1].values():
        row.pop("leaseOwner", None)
        if owner:
            row["leaseOwner"] = {"S": owner}
    return ("a copy of the table",)


def _left(rng: Random, case: Case, initial: str, release: str
          ) -> tuple[list[Rows], list[dict[str, frozenset[str]]]]:
    """The table at every pause of a worker that was killed in the end, and what it had read."""
    created, now = case.stream["created"], case.now
    life = now - created
    moments = sorted(created + rng.randrange(life // 3, life) for _ in range(rng.randrange(1, 4)))
    stream = Growing(case, moments[0])
    source = Source(stream, case.stream["name"])
    worker = Worker(stream, source, {}, Initial.of(initial), release)  # type: ignore[arg-type]
    worker.start()
    stages, reads = [], []
    for moment in moments:
        stream.show(moment)
        for _ in range(rng.choice((2, 3, 5, 8, 40, 40))):
            worker._round()
            if rng.random() < 0.3:
                clean_up(worker.table, worker.finished, worker.source, release)
        stages.append({key: deepcopy(item) for key, item in worker.table.items()})
        reads.append({shard: frozenset(read) for shard, read in worker.delivered.items()})
    return stages, reads


def start(state: State, rows: Rows) -> Run:
    """The reference worker's next start."""
    fake = Direct(state.case)

    def put() -> None:
        for shard in state.case.live.shards:
            for index in range(state.case.live.n):
                fake.put(shard, f"n{shard}-{index}")

    return run_beside(
        fake, "orders", list(rows.values()), state.starting, state.release, put,  # type: ignore[arg-type]
        identifier=state.case.identifier,
    )
