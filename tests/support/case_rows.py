"""A case's lease rows: short-hand to DynamoDB JSON, and an expected repair done by hand.

The attributes are those of KCL 2.3 and later (KCL 3.5.1 DynamoDBLeaseSerializer); the repair
follows KCL's own create and evict updates (DynamoDBLeaseRefresher).
"""

from __future__ import annotations

from typing import Any

from tests.support.case_stream import CaseShard, only, shard_name

Item = dict[str, Any]
"""One DynamoDB item in DynamoDB JSON."""

SENTINELS = {"TRIM_HORIZON", "LATEST", "AT_TIMESTAMP", "SHARD_END"}
ROW_DEFAULTS: dict[str, Any] = {
    "sub": 0,
    "children": [],
    "owner": "w1",
    "counter": 7,
    "hash": True,
    "omit": [],
    "set": {},
}
ROW_KEYS = {*ROW_DEFAULTS, "shard", "checkpoint", "parents"}
PENDING = ("pendingCheckpoint", "pendingCheckpointSubSequenceNumber", "pendingCheckpointState")


def position(text: str, shard: int, shards: dict[int, CaseShard]) -> str:
    """What a position's short-hand stands for in the row of this shard.

    A sentinel or a literal number stands for itself, START and END for the shard's own bounds, a
    payload (``s0-1``) for the number of that record, whichever shard it is of.
    """
    if text in SENTINELS or text.isdigit():
        return text
    if text in ("START", "END"):
        own = shards[shard]
        bound = own.start if text == "START" else own.end
        if not bound:
            raise ValueError(f"shard {shard} is open and has no {text}")
        return bound
    for other in shards.values():
        for sequence_number, payload, _ in other.records:
            if payload == text:
                return sequence_number
    raise ValueError(f"no record has the payload {text!r}")


def item_of(row: dict[str, Any], shards: dict[int, CaseShard]) -> Item:
    """The stored item of one ``[[rows]]`` table."""
    only(row, ROW_KEYS, f"row of shard {row.get('shard')}")
    whole = {**ROW_DEFAULTS, **row}
    shard = whole["shard"]
    known = shards.get(shard)
    parents = whole.get("parents", known.parents if known else ())
    item: Item = {
        "leaseKey": {"S": shard_name(shard)},
        "leaseCounter": {"N": str(whole["counter"])},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "checkpoint": {"S": position(whole["checkpoint"], shard, shards)},
        "checkpointSubSequenceNumber": {"N": str(whole["sub"])},
    }
    if whole["owner"]:
        item["leaseOwner"] = {"S": whole["owner"]}
    item |= _named("parentShardId", parents) | _named("childShardIds", whole["children"])
    if whole["hash"] and known:
        item |= _hash_keys(known)
    for attribute in whole["omit"]:
        del item[attribute]
    return item | whole["set"]


def _named(attribute: str, ids: list[int] | tuple[int, ...]) -> Item:
    return {attribute: {"SS": sorted(map(shard_name, ids))}} if ids else {}


def _hash_keys(shard: CaseShard) -> Item:
    return {
        "startingHashKey": {"S": str(shard.first_hash)},
        "endingHashKey": {"S": str(shard.last_hash)},
    }


def repaired(items: list[Item], writes: dict[int, str], shards: dict[int, CaseShard]) -> list[Item]:
    """The rows after the writes of an ``[expect.fixed]`` table, done by hand.

    ``delete`` removes a row, ``same`` repairs the other attributes of a row whose position stays,
    everything else is a position: an absent row is created with it, a present one moved to it.
    """
    table = {item["leaseKey"]["S"]: dict(item) for item in items}
    there = {*table, *map(shard_name, writes)} - {
        shard_name(shard) for shard, wanted in writes.items() if wanted == "delete"
    }
    for shard, wanted in writes.items():
        key = shard_name(shard)
        if wanted == "delete":
            del table[key]
            continue
        parents = _parents(shards[shard], shards, there)
        if wanted == "same":
            table[key] = _mended(table[key], parents, shards[shard])
        elif key in table:
            place = position(wanted, shard, shards)
            table[key] = _moved(table[key], place, parents, shards[shard])
        else:
            table[key] = _created(shards[shard], position(wanted, shard, shards), parents)
    return list(table.values())


def _parents(shard: CaseShard, shards: dict[int, CaseShard], there: set[str]) -> list[int]:
    """A parent that is neither listed nor leased gates nothing and is not named."""
    return [
        parent for parent in shard.parents if shards[parent].listed or shard_name(parent) in there
    ]


def _created(shard: CaseShard, checkpoint: str, parents: list[int]) -> Item:
    item: Item = {
        "leaseKey": {"S": shard_name(shard.id)},
        "leaseCounter": {"N": "0"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "checkpoint": {"S": checkpoint},
        "checkpointSubSequenceNumber": {"N": "0"},
    }
    if checkpoint == "SHARD_END":
        item |= _named("childShardIds", shard.children)
    return item | _named("parentShardId", parents) | _hash_keys(shard)


def _moved(item: Item, checkpoint: str, parents: list[int], shard: CaseShard) -> Item:
    counter = int(item.get("leaseCounter", {"N": "0"})["N"])
    gone = {"leaseOwner", "checkpointOwner", *PENDING}
    moved = {name: value for name, value in item.items() if name not in gone} | {
        "checkpoint": {"S": checkpoint},
        "checkpointSubSequenceNumber": {"N": "0"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "leaseCounter": {"N": str(counter + 1)},
    }
    if checkpoint == "SHARD_END":
        moved |= _named("childShardIds", shard.children)
    elif item.get("checkpoint") == {"S": "SHARD_END"}:
        # It was over and waited for nobody; the library waits for the parents that the row names.
        moved = _named("parentShardId", parents) | moved
    return moved


def _mended(item: Item, parents: list[int], shard: CaseShard) -> Item:
    mended = {name: value for name, value in item.items() if name != "parentShardId"}
    if "SS" not in mended.get("childShardIds", {"SS": []}):
        mended |= _named("childShardIds", shard.children)
    mended |= _named("parentShardId", parents) | {"checkpointSubSequenceNumber": {"N": "0"}}
    for attribute in ("leaseCounter", "ownerSwitchesSinceCheckpoint"):
        mended.setdefault(attribute, {"N": "0"})
    return mended
