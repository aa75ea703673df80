"""kinsumer: an application's three DynamoDB tables (CreateRequiredTables), which are one store.

None of their keys names the stream: only the application's name distinguishes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from reshardctl.codec.values import LATEST
from reshardctl.consumers.options import refuse_unknown
from reshardctl.consumers.spec import Scheme, Spec
from reshardctl.consumers.tables import NewTable, OwnTables, Writes
from reshardctl.model import ShardId, TableShape
from reshardctl.model.tables import Capacity

CHECKPOINTS, CLIENTS, METADATA = "checkpoints/", "clients/", "metadata/"
"""Prefixes of the keys of each table's rows."""

OPTIONS = ("initial", "release")
CACHE = METADATA + "ShardCache"
LEADER = METADATA + "Leader"


def tables(app: str, _options: Mapping[str, str] | None = None) -> tuple[TableShape, ...]:
    """The tables of an application, the one with the positions first."""
    return (
        TableShape(f"{app}_checkpoints", CHECKPOINTS, "Shard", holds="kinsumer checkpoints"),
        TableShape(f"{app}_clients", CLIENTS, "ID", holds="kinsumer clients"),
        TableShape(f"{app}_metadata", METADATA, "Key", holds="kinsumer metadata"),
    )


def new_tables(app: str, options: Mapping[str, str]) -> OwnTables:
    """The three tables as CreateRequiredTables makes them, which an application has to call.

    Both kinsumers alike: dynamoCreateTableIfNotExists of kinsumer.go, and in config.go a capacity
    of 10 and 10 and a commitFrequency of a second (Twitch 9a48088, Snowplow 1.2.0 to 1.6.0). A
    run of 1.7.0 made the same (November 2026).
    """
    refuse_unknown(options, OPTIONS, "kinsumer://", "initial and release")
    return OwnTables(
        tuple(NewTable(shape, Capacity(10, 10)) for shape in tables(app)),
        "kinsumer makes missing tables only where the application calls CreateRequiredTables",
        writes=Writes(
            1.0, "a client saves a shard's position once a second (commitFrequency)", always=False
        ),
    )


def key_of(shard: ShardId) -> str:
    """The key of a shard's row."""
    return CHECKPOINTS + shard


_APPLICATION = re.compile(r"[a-zA-Z0-9_.-]{1,243}\Z", re.ASCII)
"""kinsumer adds up to twelve characters for the names of its tables."""

TYPES = {
    **dict.fromkeys((
        "Shard", "SequenceNumber", "LastUpdateRFC", "OwnerName", "OwnerID", "FinishedRFC", "ID",
        "Name", "Key",
    ), "S"),
    "LastUpdate": "N", "Finished": "N", "ShardIDs": "L",
}  # fmt: skip
"""DynamoDB's types, as in the rows of tests/golden/kinsumer-*; null where there is no value."""

KINSUMER = Spec(
    name="kinsumer",
    schemes={
        "kinsumer": Scheme(
            "kinsumer", "dynamodb", _APPLICATION, "kinsumer application",
            "kinsumer://my-application?release=snowplow-1.7&initial=TRIM_HORIZON",
        ),
    },
    tables=tables,
    new_tables=new_tables,
    volatile_attributes=frozenset({"LastUpdate", "LastUpdateRFC", "OwnerID", "OwnerName"}),
    owner_attributes=frozenset({"OwnerID", "OwnerName"}),
    kinds=frozenset({LATEST}),
    attributes=frozenset(TYPES),
    types=TYPES,
    of_every_shard=frozenset({"SequenceNumber", "LastUpdate"}),
    rests_on=("SequenceNumber", "Finished", "OwnerID", "ShardIDs"),
    reading=frozenset({
        "SequenceNumber", "Finished", "FinishedRFC", "OwnerID", "OwnerName", "ShardIDs",
    }),
    plain=frozenset({"LATEST", "Leader", "ShardCache"}),
    key_words=frozenset(prefix.rstrip("/") for prefix in (CHECKPOINTS, CLIENTS, METADATA)),
    # The default of shardCheckFrequency, within which a running client's row changes.
    least_watch=60.0,
    ends_by_number=True,
)
