"""KCL 1.0–3.5: its lease table."""

from __future__ import annotations

from reshardctl.codec.values import LATEST
from reshardctl.consumers.kcl.keys import split
from reshardctl.consumers.kcl.plain import ATTRIBUTES, PLAIN
from reshardctl.consumers.spec import TABLE_NAME, Scheme, Spec
from reshardctl.model import Image, Stream


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
            "kcl", "dynamodb", TABLE_NAME, "name of a DynamoDB table",
            "kcl://my-application?initial=TRIM_HORIZON&release=3.5",
        ),
    },
    names_stream=_names_stream,
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
    plain=PLAIN,
    least_watch=30.0,
    makes_itself="; KCL makes it itself, and then begins at its start position",
    # docs/kcl.md, "from one stream to several": an empty table does not show which it was.
    rebuilt_empty=(
        "leases for an application of one stream; one that serves several names the stream in "
        "every key, does not find these, and begins at its start position"
    ),
)
