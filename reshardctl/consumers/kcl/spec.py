"""KCL 1.0–3.5: its lease table, and the texts and attributes that it writes into every such table.

Sources: SentinelCheckpoint, EntityType, ClientVersion and the migration states of 3.5.1; the row
keys of its Leader lock and migration rows; attributes of rows that 1.15.3, 2.7.2, 3.1.3 and 3.5.1
wrote, and of `DynamoDBLeaseSerializer` and `DynamoDBMultiStreamLeaseSerializer`.
"""

from __future__ import annotations

from reshardctl.codec.values import LATEST
from reshardctl.consumers.kcl.new_tables import new_tables
from reshardctl.consumers.kcl.rows import SENTINELS
from reshardctl.consumers.kcl.table import split
from reshardctl.consumers.spec import A_TABLE, TABLE_NAME, Scheme, Spec
from reshardctl.model import Image, Stream

_ENTITIES = {
    "LEASE", "STREAM", "LEADER", "CLIENT_VERSION_MIGRATION", "TABLE_MIGRATION",
    "WORKER_METRIC_STATS",
}
_KEYS = {"Leader", "Migration3.0", "TableMigration3.5"}
_CLIENT_VERSIONS = {
    "CLIENT_VERSION_INIT", "CLIENT_VERSION_UPGRADE_FROM_2X", "CLIENT_VERSION_2X",
    "CLIENT_VERSION_3X_WITH_ROLLBACK", "CLIENT_VERSION_3X",
}
_TABLE_STATES = {
    f"TABLE_MIGRATION_STATUS_{state}" for state in ("INIT", "DEPLOYED", "PENDING", "COMPLETE")
}

PLAIN = frozenset(SENTINELS | _ENTITIES | _KEYS | _CLIENT_VERSIONS | _TABLE_STATES | {"AVAILABLE"})

TYPES = {
    # leases
    **dict.fromkeys((
        "leaseKey", "leaseOwner", "checkpoint", "startingHashKey", "endingHashKey",
        "pendingCheckpoint", "checkpointOwner", "entityType", "streamName", "shardId",
    ), "S"),
    **dict.fromkeys((
        "leaseCounter", "ownerSwitchesSinceCheckpoint", "checkpointSubSequenceNumber",
        "pendingCheckpointSubSequenceNumber", "throughputKBps",
    ), "N"),
    "pendingCheckpointState": "B", "parentShardId": "SS", "childShardIds": "SS",
    # the leader's lock, the state of a migration, statistics of workers
    **dict.fromkeys(
        ("key", "leaseDuration", "ownerName", "recordVersionNumber", "cv", "mb", "wid"), "S"
    ),
    **dict.fromkeys(("mts", "lut", "slu", "sup"), "N"),
    "h": "L", "opr": "M", "sts": "M",
}  # fmt: skip
"""DynamoDB's types, as in the rows of tests/golden/kcl."""
ATTRIBUTES = frozenset(TYPES) | {"e", "C", "T", "tm"}


def _names_stream(row: Image, stream: Stream) -> bool | None:
    """Whether the key of a multi-stream table names the stream; `None` for a bare shard id."""
    named, _ = split(row.key)
    if named is None:
        return None
    return (named.account, named.name) == (stream.account, stream.name)


KCL = Spec(
    name="kcl",
    schemes={
        "kcl": Scheme(
            "kcl", "dynamodb", TABLE_NAME, A_TABLE,
            "kcl://my-application?initial=TRIM_HORIZON&release=3.5",
        ),
    },
    names_stream=_names_stream,
    new_tables=new_tables,
    volatile_attributes=frozenset({
        "leaseCounter", "leaseOwner", "checkpointOwner", "ownerSwitchesSinceCheckpoint",
        "throughputKBps",
    }),
    monotonic_counters=frozenset({"leaseCounter"}),
    owner_attributes=frozenset({"leaseOwner", "checkpointOwner"}),
    kinds=frozenset({LATEST}),
    iterator="AT_SEQUENCE_NUMBER",
    rests_on=(
        "checkpoint", "checkpointSubSequenceNumber", "parentShardId", "childShardIds",
        "pendingCheckpoint", "leaseOwner", "checkpointOwner", "entityType", "streamName",
        "shardId",
    ),
    reading=frozenset({
        "checkpoint", "checkpointSubSequenceNumber", "pendingCheckpoint", "childShardIds",
        "leaseOwner", "checkpointOwner",
    }),
    attributes=ATTRIBUTES,
    types=TYPES,
    of_every_shard=frozenset({"checkpoint", "leaseCounter"}),
    plain=PLAIN,
    least_watch=30.0,
    makes_itself="; KCL makes it itself, and then begins at its start position",
    # docs/kcl.md, "from one stream to several": an empty table does not show which it was.
    rebuilt_empty=(
        "leases for an application of one stream; one that serves several names the stream in "
        "every key, does not find these, and begins at its start position"
    ),
)
