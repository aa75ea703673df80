"""Texts and attributes that KCL itself writes into every application's lease table.

Sources: SentinelCheckpoint, EntityType, ClientVersion and the migration states of 3.5.1; the row
keys of its Leader lock and migration rows; attributes of rows that 1.15.3, 2.7.2, 3.1.3 and 3.5.1
wrote, and of `DynamoDBLeaseSerializer` and `DynamoDBMultiStreamLeaseSerializer`.
"""

from __future__ import annotations

from reshardctl.consumers.kcl.rows import SENTINELS

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

ATTRIBUTES = frozenset({
    # leases
    "leaseKey", "leaseOwner", "leaseCounter", "ownerSwitchesSinceCheckpoint", "checkpoint",
    "checkpointSubSequenceNumber", "parentShardId", "childShardIds", "startingHashKey",
    "endingHashKey", "pendingCheckpoint", "pendingCheckpointSubSequenceNumber",
    "pendingCheckpointState", "checkpointOwner", "throughputKBps", "entityType", "streamName",
    "shardId",
    # the leader's lock, the state of a migration, statistics of workers
    "key", "leaseDuration", "ownerName", "recordVersionNumber", "cv", "mb", "mts", "h", "e", "wid",
    "lut", "opr", "sts", "C", "T", "tm", "slu", "sup",
})
