"""The tables that a release of KCL makes at its first start.

It makes a missing table, whatever made the others, and needs the permission to. Sources, of
awslabs/amazon-kinesis-client at the tags named:

1.x             LeaseManager.createLeaseTableIfNotExists; DEFAULT_DDB_BILLING_MODE PROVISIONED and
                DEFAULT_INITIAL_LEASE_TABLE_READ_CAPACITY, …WRITE_CAPACITY 10 of
                KinesisClientLibConfiguration (1.9.3, v1.x)
2.0 to 2.3.4    the same capacity: LeaseManagementConfig, whose billingMode is PROVISIONED
2.3.7 to 2.7    PAY_PER_REQUEST: LeaseManagementConfig (2.3.7, 2.7.3; #854)
3.0 to 3.4      an index on leaseOwner (DynamoDBLeaseRefresher.
                createLeaseOwnerToLeaseKeyIndexIfNotExists, at the start, by UpdateTable), and two
                tables: CoordinatorStateDAO, WorkerMetricStatsDAO, DdbTableConfig (3.0.3, 3.4.3)
3.5             the index; the two tables are used where they exist and never made
                (LegacyTableCoordinatorStateDAODelegate, LegacyTableWorkerMetricStatsDAODelegate,
                3.5.1)

Renewals: every owned lease, a finished one too, each third of failoverTimeMillis
(CommonCalculations.getRenewerTakerIntervalMillis, 3.5.1), by a conditional write of the lease. The
index holds none of what a renewal changes.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from reshardctl.consumers.kcl.releases import DEFAULT_FAILOVER, read_options, version_named
from reshardctl.consumers.kcl.rows import RENEWALS
from reshardctl.consumers.kcl.table import side_tables
from reshardctl.consumers.tables import Index, NewTable, OwnTables, Writes
from reshardctl.model import TableShape
from reshardctl.model.tables import Capacity

INDEX = Index("LeaseOwnerToLeaseKeyIndex", "leaseOwner", "leaseKey")
PROVISIONED = Capacity(10, 10)
BY_REQUEST, INDEXED, SINGLE = (2, 3, 7), (3, 0), (3, 5)
"""The first releases with tables that are billed by request, with the index, with one table."""


def new_tables(application: str, options: Mapping[str, str]) -> OwnTables:
    """The tables of an application, and of one whose release is open what all releases share."""
    given = read_options(options)
    release = options.get("release")
    leases = NewTable(TableShape(application))
    beside = [
        NewTable(TableShape(side.name, hash=side.key, holds=holds), needed=False)
        for side, holds in zip(
            side_tables(application), ("KCL's coordinator state", "KCL's worker metrics"),
            strict=True,
        )
    ]
    made = (
        "KCL makes a missing table at its first start, if it may call CreateTable and UpdateTable"
    )
    unsettled = ""
    if release is None:
        unsettled = "add the release that will start, as in release=3.5"
    elif (version := version_named(release)) < INDEXED:
        leases = leases if version >= BY_REQUEST else replace(leases, capacity=PROVISIONED)
        beside = []
    else:
        leases = replace(leases, indexes=(INDEX,))
        beside = [replace(table, needed=version < SINGLE) for table in beside]
    return OwnTables((leases, *beside), made, unsettled, _renewals(given.failover, options))


def _renewals(failover: float, options: Mapping[str, str]) -> Writes:
    whence = (
        f"failover={options['failover']}" if "failover" in options
        else f"its default failover time, {DEFAULT_FAILOVER:.0f} s"
    )
    every = failover / RENEWALS
    return Writes(1 / every, f"KCL renews every lease each {every:.2g} s ({whence})", always=True)
