"""Where kinesis-local 0.6.2 and FakeKinesis answer differently, and which of them AWS agrees with.

All that is not in this table they answer alike (tests/proof/libraries/test_second_opinion.py).
A row that stops being true makes a test fail: then one of the two has changed, and the row goes.
"""

from __future__ import annotations

from tests.proof.libraries.second_opinion.deviation import (
    ABSENT,
    ACCEPTED,
    CLOSED,
    CONSTRAINT,
    IN_USE,
    INVALID,
    MALFORMED,
    NUMBERS,
    UNSAID,
    Deviation,
    Deviations,
    Wrong,
    reference,
    tried,
)

_EDGES = "kinesis-mock adds up rounded widths; AWS has floor(i * 2^128 / n): AWS CLI reference, "
_TOP = 2**128 - 1
_HALF, _QUARTER = 2**127, 2**126
_OLD_SHARDS = tried("splitShard", "UPDATING shows the old shards, and they take the records")
_FOREIGN = "recorded answer of AWS, boto3#1478"
_INCARNATION = "recorded answer of AWS, amazon-kinesis-video-streams-parser-library#75"
_STRANGE = "recorded answer of AWS, kinsumer#35: one application name for two streams"
_NONE_YET = tried("createStream", "what a stream that is CREATING answers")

DEVIATIONS: Deviations = {
    ("creation", "edges of 2"): Deviation(
        [(0, _HALF - 2), (_HALF - 1, _TOP)],
        [(0, _HALF - 1), (_HALF, _TOP)],
        Wrong.THEM,
        _EDGES + "list-shards; Kinesis API reference, DescribeStream example",
    ),
    ("creation", "edges of 4"): Deviation(
        [
            (0, _QUARTER - 2),
            (_QUARTER - 1, _HALF - 3),
            (_HALF - 2, 3 * _QUARTER - 4),
            (3 * _QUARTER - 3, _TOP),
        ],
        [
            (0, _QUARTER - 1),
            (_QUARTER, _HALF - 1),
            (_HALF, 3 * _QUARTER - 1),
            (3 * _QUARTER, _TOP),
        ],
        Wrong.THEM,
        _EDGES + "list-shards",
    ),
    ("creation", "a name of odd signs"): Deviation(
        INVALID, CONSTRAINT, Wrong.THEM, tried("createStream", "streamName, a pattern")
    ),
    ("creating", "described"): Deviation([0, 1], [], Wrong.THEM, _NONE_YET),
    ("creating", "listed"): Deviation(
        [0, 1], IN_USE, Wrong.THEM, reference("ListShards", "ResourceInUseException")
    ),
    ("creating", "iterator"): Deviation(IN_USE, ABSENT, Wrong.THEM, _NONE_YET),
    ("creating", "put"): Deviation(IN_USE, ABSENT, Wrong.THEM, _NONE_YET),
    ("deletion", "listed meanwhile"): Deviation(
        ACCEPTED, IN_USE, Wrong.THEM, reference("ListShards", "ResourceInUseException")
    ),
    ("deletion", "deleted while CREATING"): Deviation(
        IN_USE, ACCEPTED, Wrong.THEM, tried("deleteStream", "while it is being created")
    ),
    ("deletion", "shards then"): Deviation(
        [0], [], Wrong.THEM, tried("deleteStream", "while it is being created")
    ),
    ("recreation", "at the old record"): Deviation(ACCEPTED, INVALID, Wrong.THEM, _INCARNATION),
    ("recreation", "after the old record"): Deviation(ACCEPTED, INVALID, Wrong.THEM, _INCARNATION),
    ("recreation", "at the old start"): Deviation(ACCEPTED, INVALID, Wrong.THEM, _INCARNATION),
    ("retention", "increased to more than a year"): Deviation(
        (INVALID, 8760),
        (CONSTRAINT, 8760),
        Wrong.THEM,
        tried("increaseStreamRetentionPeriod", "ValidationException beyond the greatest period"),
    ),
    ("updating", "listed"): Deviation([0, 1, 2, 3], [0, 1], Wrong.THEM, _OLD_SHARDS),
    ("updating", "open shards"): Deviation(3, 2, Wrong.THEM, _OLD_SHARDS),
    ("updating", "put goes to"): Deviation(2, 0, Wrong.THEM, _OLD_SHARDS),
    ("merging", "one of the pair is closed"): Deviation(IN_USE, INVALID, Wrong.THEM, CLOSED),
    ("merging", "both are closed"): Deviation(IN_USE, INVALID, Wrong.THEM, CLOSED),
    ("refused_splits", "closed"): Deviation(IN_USE, INVALID, Wrong.THEM, CLOSED),
    ("refused_splits", "at its first key"): Deviation(
        ACCEPTED, INVALID, Wrong.THEM, tried("splitShard", "greater than one plus the shard's")
    ),
    ("refused_splits", "at its last key"): Deviation(
        ACCEPTED, INVALID, Wrong.THEM, tried("splitShard", "less than the shard's EndingHashKey")
    ),
    ("scaling", "4 to 3"): Deviation(
        ["0-1/2", "1/2-3/4", "3/4-1"],
        ["0-1/3", "1/3-2/3", "2/3-1"],
        Wrong.THEM,
        "recorded answer of AWS, risingwave#9961: ranges are uniform afterwards",
    ),
    ("filters", "AT_TRIM_HORIZON"): Deviation(
        [0, 1, 2, 3, 4],
        [0, 1],
        Wrong.THEM,
        reference("ShardFilter", "open at TRIM_HORIZON; KCL 3.5.1 does not start on more"),
    ),
    ("filters", "start behind all"): Deviation(
        [0, 1, 2, 3, 4], [], Wrong.UNKNOWN, f"{UNSAID} what an id of no shard does"
    ),
    ("filters", "no such type"): Deviation(
        MALFORMED,
        INVALID,
        Wrong.UNKNOWN,
        "the model has it as an enumeration, which elsewhere means ValidationException",
    ),
    ("paging", "too many"): Deviation(
        ACCEPTED, CONSTRAINT, Wrong.THEM, tried("listShards", "less than or equal to 10000")
    ),
    ("wide_pages", "sizes"): Deviation(
        [100, 100, 50], [250], Wrong.THEM, reference("ListShards", "pages of 1000")
    ),
    ("same_names", "another time"): Deviation(
        [0, 1],
        ABSENT,
        Wrong.THEM,
        reference("ListShards", "the time says which stream is meant; no error is named"),
    ),
    ("reading", "order of the parents"): Deviation(
        [1, 3], [3, 1], Wrong.UNKNOWN, reference("ChildShard", "gives no order")
    ),
    ("reading", "end comes with"): Deviation(
        1, 0, Wrong.UNKNOWN, "either may be: FakeKinesis has settings.end_with_last_records"
    ),
    ("batches", "members"): Deviation(
        ["ApproximateArrivalTimestamp", "Data", "EncryptionType", "PartitionKey", "SequenceNumber"],
        ["ApproximateArrivalTimestamp", "Data", "PartitionKey", "SequenceNumber"],
        Wrong.THEM,
        tried("getRecords", "the members of a record without encryption"),
    ),
    ("batches", "too many"): Deviation(
        INVALID, CONSTRAINT, Wrong.THEM, tried("getRecords", "less than or equal to 10000")
    ),
    ("batches", "nonsense"): Deviation(
        "500", INVALID, Wrong.THEM, tried("getRecords", "Invalid ShardIterator.")
    ),
    ("writing", "a key of letters"): Deviation(
        "500", CONSTRAINT, Wrong.THEM, tried("putRecord", "explicitHashKey, a pattern")
    ),
    ("writing", "501 records"): Deviation(
        ACCEPTED, CONSTRAINT, Wrong.THEM, tried("putRecords", "less than or equal to 500")
    ),
    ("iterators", "at, after the end"): Deviation(
        (ABSENT, ABSENT),
        (ACCEPTED, INVALID),
        Wrong.THEM,
        "AFTER: recorded answer of AWS, kinesis-mock#1536. AT: nobody has said; FakeKinesis has "
        "settings.refuse_at_end",
    ),
    ("iterators", "at, after another shard's"): Deviation(
        (ABSENT, ABSENT), (INVALID, INVALID), Wrong.THEM, _FOREIGN
    ),
    ("iterators", "at, after another stream's"): Deviation(
        (ABSENT, ABSENT), (INVALID, INVALID), Wrong.THEM, _STRANGE
    ),
    ("iterators", "at, after nonsense"): Deviation(
        (ABSENT, ABSENT),
        (INVALID, INVALID),
        Wrong.BOTH,
        tried("getShardIterator", "InternalFailure if using small (old?) sequence number"),
    ),
    ("iterators", "at, after an odd number"): Deviation(
        (ABSENT, ABSENT), (INVALID, INVALID), Wrong.THEM, tried("getShardIterator", "is invalid")
    ),
    ("iterators", "no digits"): Deviation(
        ABSENT, CONSTRAINT, Wrong.THEM, tried("getShardIterator", "a pattern of digits")
    ),
    ("iterators", "a number for LATEST"): Deviation(
        ACCEPTED, INVALID, Wrong.THEM, tried("getShardIterator", "LATEST and a number")
    ),
    ("iterators", "a number for TRIM_HORIZON"): Deviation(
        ACCEPTED, INVALID, Wrong.THEM, tried("getShardIterator", "TRIM_HORIZON and a number")
    ),
    ("iterators", "no such type"): Deviation(
        MALFORMED, CONSTRAINT, Wrong.THEM, tried("getShardIterator", "an enumeration")
    ),
    ("sequence_numbers", "start after a merge names"): Deviation(1, 4, Wrong.THEM, NUMBERS),
    # Every closed shard of kinesis-local ends at 2^63 - 1, which is no number of this layout.
    ("sequence_numbers", "ends name"): Deviation(
        dict.fromkeys((0, 1, 3), 2**32 - 1), {0: 0, 1: 1, 3: 3}, Wrong.THEM, NUMBERS
    ),
    ("sequence_numbers", "ends have the index"): Deviation(
        {"0x0"}, {"0x7fffffffffffffff"}, Wrong.THEM, NUMBERS
    ),
    ("sequence_numbers", "children follow a second later"): Deviation(
        False, True, Wrong.THEM, tried("splitShard", "one second after the end of the parent")
    ),
    ("sequence_numbers", "roots precede the creation by three"): Deviation(
        False, True, Wrong.THEM, NUMBERS
    ),
    ("sequence_numbers", "records precede their end"): Deviation(False, True, Wrong.THEM, NUMBERS),
}
