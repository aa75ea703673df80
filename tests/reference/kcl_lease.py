"""A lease row as KCL reads and writes it (KCL 3.5.1 DynamoDBLeaseSerializer, and 2.7.2's)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Item = dict[str, Any]
"""One DynamoDB item in DynamoDB JSON."""

TRIM_HORIZON, LATEST, AT_TIMESTAMP = "TRIM_HORIZON", "LATEST", "AT_TIMESTAMP"
SHARD_END = "SHARD_END"


class UnreadableRowError(Exception):
    """The row cannot be turned into a lease: KCL gets a NullPointerException."""


@dataclass(frozen=True, slots=True)
class Lease:
    """What KCL keeps of a row; ``checkpoint`` None is a row without that attribute."""

    key: str
    checkpoint: str | None
    sub: int
    parents: frozenset[str]
    children: frozenset[str]
    hashes: tuple[int, int] | None

    @property
    def ended(self) -> bool:
        """Equal to SHARD_END: a sub-sequence number makes it something else."""
        return (self.checkpoint, self.sub) == (SHARD_END, 0)


def lease_of(item: Item, release: str) -> Lease | None:
    """Read one row. None is a row of another kind, which only 3.5 and later know.

    Raises UnreadableRowError where the real one throws: without a counter or owner switches. A set
    that is not a string set reads as empty.
    """
    if release >= "3.5" and item.get("entityType", {}).get("S", "LEASE") != "LEASE":
        return None
    for attribute in ("leaseCounter", "ownerSwitchesSinceCheckpoint"):
        if "N" not in item.get(attribute, {}):
            raise UnreadableRowError(f"{item['leaseKey']['S']}: no {attribute}")
    bounds = [item.get(name, {}).get("S") for name in ("startingHashKey", "endingHashKey")]
    return Lease(
        key=item["leaseKey"]["S"],
        checkpoint=item.get("checkpoint", {}).get("S"),
        sub=int(item.get("checkpointSubSequenceNumber", {}).get("N", "0")),
        parents=frozenset(item.get("parentShardId", {}).get("SS", ())),
        children=frozenset(item.get("childShardIds", {}).get("SS", ())),
        hashes=(int(bounds[0]), int(bounds[1])) if bounds[0] and bounds[1] else None,
    )


def list_leases(table: dict[str, Item], release: str) -> list[Lease]:
    """Every lease of the table, by key.

    One unreadable row fails the whole list before 3.4.3 (UnreadableRowError); later it is skipped.
    """
    found = []
    for key in sorted(table):
        try:
            lease = lease_of(table[key], release)
        except UnreadableRowError:
            if release < "3.4.3":
                raise
            continue
        if lease is not None:
            found.append(lease)
    return found


def new_item(
    key: str, checkpoint: str, parents: list[str], hashes: tuple[int, int], release: str
) -> Item:
    """The row that KCL creates for a shard; from 3.5 on it carries its kind."""
    item: Item = {
        "leaseKey": {"S": key},
        "leaseCounter": {"N": "0"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "checkpoint": {"S": checkpoint},
        "checkpointSubSequenceNumber": {"N": "0"},
        "startingHashKey": {"S": str(hashes[0])},
        "endingHashKey": {"S": str(hashes[1])},
    }
    if parents:
        item["parentShardId"] = {"SS": sorted(parents)}
    if release >= "3.5":
        item["entityType"] = {"S": "LEASE"}
    return item


def checkpointed(item: Item, checkpoint: str) -> Item:
    """The row after a checkpoint: the pending one is gone, switches start anew."""
    pending = {name for name in item if name.startswith("pendingCheckpoint")}
    return {name: value for name, value in item.items() if name not in pending} | {
        "checkpoint": {"S": checkpoint},
        "checkpointSubSequenceNumber": {"N": "0"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "leaseCounter": {"N": str(int(item["leaseCounter"]["N"]) + 1)},
    }


def taken(item: Item, worker: str) -> Item:
    """The row after a worker took it: a hand-off that was under way is over."""
    kept = {name: value for name, value in item.items() if name != "checkpointOwner"}
    counter = {"N": str(int(item["leaseCounter"]["N"]) + 1)}
    return kept | {"leaseOwner": {"S": worker}, "leaseCounter": counter}
