"""kinsumer: its three DynamoDB tables."""

from __future__ import annotations

import re

from reshardctl.codec.values import LATEST
from reshardctl.consumers.kinsumer.tables import CHECKPOINTS, CLIENTS, METADATA, tables
from reshardctl.consumers.spec import Scheme, Spec

_APPLICATION = re.compile(r"[a-zA-Z0-9_.-]{1,243}\Z", re.ASCII)
"""kinsumer adds up to twelve characters for the names of its tables."""

KINSUMER = Spec(
    name="kinsumer",
    schemes={
        "kinsumer": Scheme(
            "kinsumer", "dynamodb", _APPLICATION, "kinsumer application",
            "kinsumer://my-application?release=snowplow-1.7&initial=TRIM_HORIZON",
        ),
    },
    tables=tables,
    volatile_attributes=frozenset({"LastUpdate", "LastUpdateRFC", "OwnerID", "OwnerName"}),
    owner_attributes=frozenset({"OwnerID", "OwnerName"}),
    kinds=frozenset({LATEST}),
    attributes=frozenset({
        "Shard", "SequenceNumber", "LastUpdate", "LastUpdateRFC", "OwnerName", "OwnerID",
        "Finished", "FinishedRFC", "ID", "Name", "Key", "ShardIDs",
    }),
    rests_on=("SequenceNumber", "Finished", "OwnerID", "ShardIDs"),
    reading=frozenset({
        "SequenceNumber", "Finished", "FinishedRFC", "OwnerID", "OwnerName", "ShardIDs",
    }),
    plain=frozenset({"LATEST", "Leader", "ShardCache"}),
    key_words=frozenset(prefix.rstrip("/") for prefix in (CHECKPOINTS, CLIENTS, METADATA)),
    # The default of shardCheckFrequency, within which a running client's row changes.
    least_watch=60.0,
)
