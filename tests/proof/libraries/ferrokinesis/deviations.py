"""Where ferrokinesis 0.7.0 and FakeKinesis answer differently, and which of them AWS agrees with.

All that is not in this table they answer alike (tests/proof/libraries/test_second_opinion.py).
A row that stops being true makes a test fail: then one of the two has changed, and the row goes.
"""

from __future__ import annotations

from typing import Any

from tests.proof.libraries.second_opinion.deviation import (
    ABSENT,
    ACCEPTED,
    CLOSED,
    CONSTRAINT,
    IN_USE,
    INVALID,
    NUMBERS,
    UNSAID,
    Deviation,
    Deviations,
    Wrong,
    reference,
    tried,
)

_ALL = [0, 1, 2, 3, 4]
_FILTER = reference("ShardFilter", "its types; ferrokinesis reads no ShardFilter")
_TOKEN = reference("ListShards", "a NextToken alone names the stream; here it names none")
_ARN = "API reference of each action: StreamARN, or StreamName, or both"
_CHILDREN = reference("GetRecords", "ChildShards when the end of the shard is reached")
_NO_CHILDREN: dict[str, Any] = {"iterator": None, "children": [], "parents": []}
_BOTH_CHILDREN = {
    "iterator": None, "children": [(2, "0-1/4"), (3, "1/4-1/2")], "parents": [0, 0],
}  # fmt: skip
_PARENTS = "recorded answer of AWS, risingwave#9961: splits and merges, each with its parents"
_SCALED = [
    (0, "0-1/2", ()), (1, "1/2-1", ()),
    (2, "0-1/4", (0,)), (3, "1/4-1/2", (0,)), (4, "1/2-3/4", (1,)), (5, "3/4-1", (1,)),
    (6, "0-1/2", (2, 3)), (7, "1/2-1", (4, 5)),
]  # fmt: skip


def _scaled(shards: int, closed: int, *, parents: bool) -> dict[int, tuple[object, ...]]:
    """The first of those shards, so many of them closed."""
    return {
        number: (span, "closed" if number < closed else "open", named if parents else ())
        for number, span, named in _SCALED[:shards]
    }


DEVIATIONS: Deviations = {
    ("creating", "listed"): Deviation(
        [], IN_USE, Wrong.THEM, reference("ListShards", "ResourceInUseException")
    ),
    ("summary", "by arn"): Deviation(False, True, Wrong.THEM, _ARN),
    ("summary", "listed by arn"): Deviation(INVALID, [0, 1, 2, 3, 4], Wrong.THEM, _ARN),
    ("summary", "iterator by arn"): Deviation(CONSTRAINT, ACCEPTED, Wrong.THEM, _ARN),
    ("summary", "listed by an arn of another account"): Deviation(
        INVALID, ABSENT, Wrong.THEM, _ARN
    ),
    ("summary", "described, two"): Deviation(
        ([0, 1, 2, 3, 4], False), ([0, 1], True), Wrong.THEM, reference("DescribeStream", "Limit")
    ),
    ("summary", "described from a start"): Deviation(
        ([0, 1, 2, 3, 4], False),
        ([2, 3, 4], False),
        Wrong.THEM,
        reference("DescribeStream", "ExclusiveStartShardId"),
    ),
    ("retention", "increased to a year"): Deviation(
        (CONSTRAINT, 36),
        (ACCEPTED, 8760),
        Wrong.THEM,
        reference("IncreaseStreamRetentionPeriod", "at most 8760 hours"),
    ),
    # What follows is refused alike; the stream keeps its 36 hours.
    ("retention", "increased to more than a year"): Deviation(
        (CONSTRAINT, 36),
        (CONSTRAINT, 8760),
        Wrong.THEM,
        reference("IncreaseStreamRetentionPeriod", "at most 8760 hours"),
    ),
    ("retention", "no such stream"): Deviation(
        (ABSENT, 36),
        (ABSENT, 8760),
        Wrong.THEM,
        reference("IncreaseStreamRetentionPeriod", "at most 8760 hours"),
    ),
    ("deletion", "listed meanwhile"): Deviation(
        ACCEPTED, IN_USE, Wrong.THEM, reference("ListShards", "ResourceInUseException")
    ),
    ("updating", "retention"): Deviation(
        ACCEPTED,
        IN_USE,
        Wrong.THEM,
        reference("IncreaseStreamRetentionPeriod", "ResourceInUseException unless ACTIVE"),
    ),
    ("merging", "one of the pair is closed"): Deviation(ACCEPTED, INVALID, Wrong.THEM, CLOSED),
    ("merging", "both are closed"): Deviation(ACCEPTED, INVALID, Wrong.THEM, CLOSED),
    ("refused_splits", "closed"): Deviation(ACCEPTED, INVALID, Wrong.THEM, CLOSED),
    ("scaling", "2 to 4"): Deviation(
        _scaled(6, 2, parents=False), _scaled(6, 2, parents=True), Wrong.THEM, _PARENTS
    ),
    ("scaling", "4 to 2"): Deviation(
        _scaled(8, 6, parents=False), _scaled(8, 6, parents=True), Wrong.THEM, _PARENTS
    ),
    ("scaling", "to what it is"): Deviation(
        INVALID, ACCEPTED, Wrong.UNKNOWN, f"{UNSAID} whether the same count is refused"
    ),
    ("scaling", "beyond double"): Deviation(
        ACCEPTED, INVALID, Wrong.THEM, reference("UpdateShardCount", "at most double")
    ),
    ("scaling", "below half"): Deviation(
        ACCEPTED, INVALID, Wrong.THEM, reference("UpdateShardCount", "at least half")
    ),
    ("filters", "AT_LATEST"): Deviation(_ALL, [2, 4], Wrong.THEM, _FILTER),
    ("filters", "AT_TRIM_HORIZON"): Deviation(_ALL, [0, 1], Wrong.THEM, _FILTER),
    ("filters", "AT_TIMESTAMP between"): Deviation(_ALL, [1, 2, 3], Wrong.THEM, _FILTER),
    ("filters", "AT_TIMESTAMP later"): Deviation(_ALL, [2, 4], Wrong.THEM, _FILTER),
    ("filters", "FROM_TIMESTAMP between"): Deviation(_ALL, [1, 2, 3, 4], Wrong.THEM, _FILTER),
    ("filters", "FROM_TIMESTAMP later"): Deviation(_ALL, [2, 4], Wrong.THEM, _FILTER),
    ("filters", "AFTER_SHARD_ID"): Deviation(_ALL, [3, 4], Wrong.THEM, _FILTER),
    ("filters", "AFTER_SHARD_ID, the last"): Deviation(_ALL, [], Wrong.THEM, _FILTER),
    ("filters", "start and AT_LATEST"): Deviation([3, 4], [4], Wrong.THEM, _FILTER),
    ("filters", "no timestamp"): Deviation(_ALL, INVALID, Wrong.THEM, _FILTER),
    ("filters", "no start of a timestamp"): Deviation(_ALL, INVALID, Wrong.THEM, _FILTER),
    ("filters", "no shard"): Deviation(_ALL, INVALID, Wrong.THEM, _FILTER),
    ("filters", "no such type"): Deviation(_ALL, INVALID, Wrong.THEM, _FILTER),
    ("paging", "pages"): Deviation(ABSENT, [[0, 1], [2, 3, 4]], Wrong.THEM, _TOKEN),
    ("paging", "pages after a start"): Deviation(ABSENT, [[1, 2], [3, 4]], Wrong.THEM, _TOKEN),
    ("paging", "pages of a filter"): Deviation(ABSENT, [[0, 1, 2], [3, 4]], Wrong.THEM, _TOKEN),
    ("paging", "with MaxResults"): Deviation(ABSENT, [2], Wrong.THEM, _TOKEN),
    ("paging", "the token again"): Deviation(ABSENT, [2, 3, 4], Wrong.THEM, _TOKEN),
    ("paging", "with a start"): Deviation(
        ABSENT, INVALID, Wrong.THEM, "recorded answer of AWS, amazon-kinesis-scaling-utils#82"
    ),
    ("paging", "with a filter"): Deviation(
        ABSENT, INVALID, Wrong.THEM, "recorded answer of AWS, beam#33478"
    ),
    ("paging", "with a time"): Deviation(
        ABSENT, INVALID, Wrong.THEM, reference("ListShards", "no StreamCreationTimestamp beside it")
    ),
    ("paging", "nonsense"): Deviation(
        ABSENT, INVALID, Wrong.UNKNOWN, f"{UNSAID} which error a token of nobody gets"
    ),
    ("same_names", "another time"): Deviation(
        [0, 1],
        ABSENT,
        Wrong.THEM,
        reference("ListShards", "the time says which stream is meant; no error is named"),
    ),
    ("reading", "end of 0"): Deviation(_NO_CHILDREN, _BOTH_CHILDREN, Wrong.THEM, _CHILDREN),
    ("reading", "end of 1"): Deviation(
        _NO_CHILDREN,
        {"iterator": None, "children": [(4, "1/4-1")], "parents": [1, 3]},
        Wrong.THEM,
        _CHILDREN,
    ),
    ("reading", "order of the parents"): Deviation([], [3, 1], Wrong.THEM, _CHILDREN),
    ("reading", "end at LATEST"): Deviation(
        ([], _NO_CHILDREN), ([], _BOTH_CHILDREN), Wrong.THEM, _CHILDREN
    ),
    ("reading", "behind at the end"): Deviation(
        True,
        False,
        Wrong.UNKNOWN,
        reference("GetRecords", "zero where all is read; whether also behind a closed shard's end"),
    ),
    ("batches", "behind before the last"): Deviation(
        False, True, Wrong.THEM, reference("GetRecords", "MillisBehindLatest is zero at the tip")
    ),
    ("iterators", "at, after the end"): Deviation(
        (ACCEPTED, ACCEPTED),
        (ACCEPTED, INVALID),
        Wrong.THEM,
        "recorded answer of AWS, kinesis-mock#1536",
    ),
    ("iterators", "at, after nonsense"): Deviation(
        ("InternalFailure", "InternalFailure"),
        (INVALID, INVALID),
        Wrong.US,
        tried("getShardIterator", "InternalFailure if using small (old?) sequence number"),
    ),
    ("times", "behind all"): Deviation(
        ["b", "d"],
        [],
        Wrong.THEM,
        reference("GetShardIterator", "the next later record, not the first of all"),
    ),
    ("times", "behind all, closed"): Deviation(
        ["a", "c"],
        [],
        Wrong.THEM,
        reference("GetShardIterator", "the next later record, not the first of all"),
    ),
    ("sequence_numbers", "roots precede the creation by three"): Deviation(
        False, True, Wrong.THEM, NUMBERS
    ),
}
