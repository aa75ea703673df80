"""A lease row as KCL reads and writes it (KCL 3.5.1 DynamoDBLeaseSerializer, and 2.7.2's).

1.x: LeaseSerializer, KinesisClientLeaseSerializer and KinesisClientLease of 1.3.0, 1.13.3 and
1.15.3. 2.2: DynamoDBLeaseSerializer of 2.2.11.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

Item = dict[str, Any]
"""One DynamoDB item in DynamoDB JSON."""

TRIM_HORIZON, LATEST, AT_TIMESTAMP = "TRIM_HORIZON", "LATEST", "AT_TIMESTAMP"
SHARD_END = "SHARD_END"


@cache
def version(release: str) -> tuple[int, ...]:
    """A release as numbers."""
    return tuple(int(part) for part in release.split("."))


@cache
def syncs_fully(release: str) -> bool:
    """Whether it synchronises at every start, and knows neither hash ranges nor children."""
    return version(release) < (1, 14) or (2,) <= version(release) < (2, 3)


@cache
def knows_subs(release: str) -> bool:
    """Whether it reads and writes sub-sequence numbers (KinesisClientLeaseSerializer of 1.4.0)."""
    return version(release) >= (1, 4)


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

    nobodys: bool = False
    """3.x: an attribute checkpointOwner without a name fails every assignment's condition."""

    @property
    def ended(self) -> bool:
        """Equal to SHARD_END: a sub-sequence number makes it something else."""
        return (self.checkpoint, self.sub) == (SHARD_END, 0)


def lease_of(item: Item, release: str) -> Lease | None:
    """Read one row. None is a row of another kind, which only 3.5 and later know.

    Raises UnreadableRowError where the real one throws: without a counter or owner switches. A set
    that is not a string set reads as empty, but in 1.x, where it throws ("parentShardIds should not
    be null", run on 1.15.3).
    """
    if release >= "3.5" and item.get("entityType", {}).get("S", "LEASE") != "LEASE":
        return None
    _refuse_unparsable(item, release)
    if version(release) < (2,):
        _refuse_mistyped(item, release)
    bare = syncs_fully(release)
    names = () if bare else ("startingHashKey", "endingHashKey")
    bounds = [item.get(name, {}).get("S") for name in names] or [None]
    return Lease(
        key=item["leaseKey"]["S"],
        checkpoint=item.get("checkpoint", {}).get("S"),
        sub=_sub(item) if knows_subs(release) else 0,
        parents=frozenset(item.get("parentShardId", {}).get("SS", ())),
        children=frozenset(() if bare else item.get("childShardIds", {}).get("SS", ())),
        hashes=(int(bounds[0]), int(bounds[1])) if bounds[0] and bounds[1] else None,
        nobodys=version(release) >= (3,) and not item.get("checkpointOwner", {"S": "x"}).get("S"),
    )


def _sub(item: Item) -> int:
    return int(item.get("checkpointSubSequenceNumber", {}).get("N", "0"))


def _refuse_unparsable(item: Item, release: str) -> None:
    """DynamoUtils.safeGetLong and safeGetDouble parse the N of whatever is there, safeGetByteArray
    takes its B; HashKeyRangeForLease.deserialize wants two numbers in order."""
    for attribute in ("leaseCounter", "ownerSwitchesSinceCheckpoint"):
        if not _is_long(item.get(attribute, {})):
            raise UnreadableRowError(f"{item['leaseKey']['S']}: no {attribute}")
    optional = ["checkpointSubSequenceNumber"] if knows_subs(release) else []
    if item.get("pendingCheckpoint", {}).get("S") and version(release) >= (1, 7):
        optional.append("pendingCheckpointSubSequenceNumber")
    for attribute in optional:
        if attribute in item and not _is_long(item[attribute]):
            raise UnreadableRowError(f"{item['leaseKey']['S']}: {attribute} is no long")
    since_2_3 = version(release) >= (2, 3)
    if since_2_3 and "B" not in item.get("pendingCheckpointState", {"B": ""}):
        raise UnreadableRowError(f"{item['leaseKey']['S']}: pendingCheckpointState is null")
    if version(release) >= (3,) and "N" not in item.get("throughputKBps", {"N": "0"}):
        raise UnreadableRowError(f"{item['leaseKey']['S']}: throughputKBps is null")
    bounds = [item.get(name, {}).get("S") for name in ("startingHashKey", "endingHashKey")]
    if all(bounds) and not syncs_fully(release):
        try:
            low, high = (_big(bound) for bound in bounds)
        except ValueError:
            raise UnreadableRowError(f"{item['leaseKey']['S']}: {bounds} are no numbers") from None
        if low >= high:
            raise UnreadableRowError(f"{item['leaseKey']['S']}: {low} is not below {high}")


def _is_long(value: Item) -> bool:
    text = value.get("N", "")
    return text.removeprefix("-").isdecimal() and -(2**63) <= int(text) < 2**63


def _big(text: str) -> int:
    """java.math.BigInteger: a sign, digits, and nothing else."""
    if not text.removeprefix("-").removeprefix("+").isdecimal():
        raise ValueError(text)
    return int(text)


def _refuse_mistyped(item: Item, release: str) -> None:
    """1.x: verifyNotNull in the setters; without a checkpoint 1.15.3 was seen to die."""
    sets = ["parentShardId"] if syncs_fully(release) else ["parentShardId", "childShardIds"]
    for attribute in sets:
        if attribute in item and "SS" not in item[attribute]:
            raise UnreadableRowError(f"{item['leaseKey']['S']}: {attribute} is no string set")
    if not syncs_fully(release) and "S" not in item.get("checkpoint", {}):
        raise UnreadableRowError(f"{item['leaseKey']['S']}: no checkpoint")


def list_leases(
    table: dict[str, Item], release: str, *, skips: tuple[int, ...] = (3, 5)
) -> list[Lease]:
    """Every lease of the table, by key.

    One unreadable row fails the whole list before `skips` (UnreadableRowError); later it is left
    out.
    """
    found = []
    for key in sorted(table):
        try:
            lease = lease_of(table[key], release)
        except UnreadableRowError:
            if version(release) < skips:
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
    }
    if not syncs_fully(release):
        item["startingHashKey"] = {"S": str(hashes[0])}
        item["endingHashKey"] = {"S": str(hashes[1])}
    if not knows_subs(release):
        del item["checkpointSubSequenceNumber"]
    if parents:
        item["parentShardId"] = {"SS": sorted(parents)}
    if release >= "3.5":
        item["entityType"] = {"S": "LEASE"}
    return item


def checkpointed(item: Item, checkpoint: str, release: str) -> Item:
    """The row after a checkpoint: the pending one is gone, switches start anew."""
    pending = {name for name in item if name.startswith("pendingCheckpoint")}
    sub: Item = {"checkpointSubSequenceNumber": {"N": "0"}} if knows_subs(release) else {}
    return {name: value for name, value in item.items() if name not in pending} | sub | {
        "checkpoint": {"S": checkpoint},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "leaseCounter": {"N": _counted(item)},
    }


def taken(item: Item, worker: str, release: str) -> Item:
    """The row after a worker took it: a hand-off that was under way is over.

    3.x has DynamoDB add one to the counter (getDynamoAssignLeaseUpdate), which may then be no long.
    """
    kept = {name: value for name, value in item.items() if name != "checkpointOwner"}
    added = str(int(item["leaseCounter"]["N"]) + 1)
    counter = {"N": added if version(release) >= (3,) else _counted(item)}
    return kept | {"leaseOwner": {"S": worker}, "leaseCounter": counter}


def _counted(item: Item) -> str:
    """One more, as Java's long has it: behind the last comes the first."""
    return str((int(item["leaseCounter"]["N"]) + 1 + 2**63) % 2**64 - 2**63)
