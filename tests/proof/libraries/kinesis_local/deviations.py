"""Where kinesis-local 0.6.2 and FakeKinesis answer differently, and which of them AWS agrees with.

All that is not in this table they answer alike (tests/proof/libraries/test_kinesis_local.py).
A row that stops being true makes a test fail: then one of the two has changed, and the row goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Wrong(Enum):
    """Who answers otherwise than AWS."""

    THEM = "kinesis-local"
    US = "FakeKinesis"
    UNKNOWN = "nobody has said what AWS answers"


@dataclass(frozen=True)
class Deviation:
    """Both answers to one question, and who says what AWS answers."""

    theirs: Any
    ours: Any
    wrong: Wrong
    source: str


_INVALID, _ABSENT, _IN_USE = (
    "InvalidArgumentException",
    "ResourceNotFoundException",
    "ResourceInUseException",
)
_EDGES = "kinesis-mock adds up rounded widths; AWS has floor(i * 2^128 / n): AWS CLI reference, "
_NUMBERS = "77 numbers of public streams, tests/golden/sequence_numbers.json"
_TOP = 2**128 - 1
_HALF, _QUARTER = 2**127, 2**126

DEVIATIONS: dict[tuple[str, str], Deviation] = {
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
    ("updating", "listed"): Deviation(
        [0, 1, 2, 3],
        [0, 1],
        Wrong.THEM,
        "kinesalite's tests, which run against AWS too: UPDATING shows the old shards",
    ),
    ("merging", "again"): Deviation(
        _IN_USE, _INVALID, Wrong.UNKNOWN, "the MergeShards API reference has no case for it"
    ),
    ("refused_splits", "closed"): Deviation(
        _IN_USE, _INVALID, Wrong.UNKNOWN, "the SplitShard API reference has no case for it"
    ),
    ("refused_splits", "at its first key"): Deviation(
        "accepted",
        _INVALID,
        Wrong.THEM,
        "kinesalite's tests, which run against AWS too: \"greater than one plus the shard's\"",
    ),
    ("refused_splits", "at its last key"): Deviation(
        "accepted",
        _INVALID,
        Wrong.THEM,
        "kinesalite's tests, which run against AWS too: \"less than the shard's\"",
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
        "ListShards API reference, ShardFilter; KCL 3.5.1 does not start on more",
    ),
    ("filters", "start behind all"): Deviation(
        [0, 1, 2, 3, 4],
        [],
        Wrong.UNKNOWN,
        "the ListShards API reference does not say what an id of no shard does",
    ),
    ("filters", "no such type"): Deviation(
        "SerializationException",
        _INVALID,
        Wrong.UNKNOWN,
        "the model has it as an enumeration, which elsewhere means ValidationException",
    ),
    ("paging", "too many"): Deviation(
        "accepted",
        "ValidationException",
        Wrong.THEM,
        "ListShards API reference: MaxResults is at most 10000",
    ),
    ("paging", "sizes of 250"): Deviation(
        [100, 100, 50], [250], Wrong.THEM, "ListShards API reference: pages of 1000"
    ),
    ("reading", "order of the parents"): Deviation(
        [1, 3], [3, 1], Wrong.UNKNOWN, "the ChildShard API reference gives no order"
    ),
    ("reading", "end comes with"): Deviation(
        1, 0, Wrong.UNKNOWN, "either may be: FakeKinesis has settings.end_with_last_records"
    ),
    ("iterators", "after the end"): Deviation(
        _ABSENT, _INVALID, Wrong.THEM, "recorded answer of AWS, kinesis-mock#1536"
    ),
    ("iterators", "at the end"): Deviation(
        _ABSENT,
        "accepted",
        Wrong.UNKNOWN,
        "either may be: FakeKinesis has settings.refuse_at_end",
    ),
    ("iterators", "after another shard's"): Deviation(
        _ABSENT, _INVALID, Wrong.THEM, "recorded answer of AWS, boto3#1478"
    ),
    ("iterators", "after nonsense"): Deviation(
        _ABSENT, _INVALID, Wrong.THEM, "kinesalite's tests, which run against AWS too"
    ),
    ("iterators", "no such type"): Deviation(
        "SerializationException",
        "ValidationException",
        Wrong.THEM,
        "kinesalite's tests, which run against AWS too",
    ),
    ("iterators", "no iterator"): Deviation(
        "500", _INVALID, Wrong.THEM, "kinesalite's tests, which run against AWS too"
    ),
    ("sequence_numbers", "start after a merge names"): Deviation(1, 4, Wrong.THEM, _NUMBERS),
    # Every closed shard of kinesis-local ends at 2^63 - 1, which is no number of this layout.
    ("sequence_numbers", "ends name"): Deviation(
        dict.fromkeys((0, 1, 3), 2**32 - 1), {0: 0, 1: 1, 3: 3}, Wrong.THEM, _NUMBERS
    ),
    ("sequence_numbers", "records precede their end"): Deviation(False, True, Wrong.THEM, _NUMBERS),
    ("deletion", "listed meanwhile"): Deviation(
        "accepted", _IN_USE, Wrong.THEM, "ListShards API reference, ResourceInUseException"
    ),
}
