"""Reads records fast, without botocore's parser.

boto3 spends most of its time on turning each record's fields into objects of its own, three
quarters of it on the time of arrival alone. What it does before (endpoints, credentials and their
renewal, SigV4, connections kept open) costs under a millisecond per page. So the bodies of its
answers are taken before they are parsed, as those of long listings are
(`reshardctl.kinesis.pages`).
"""

from reshardctl.kinesis.fast.answers import Record
from reshardctl.kinesis.fast.reach import Reach
from reshardctl.kinesis.fast.reader import (
    Begin,
    FastReader,
    IteratorExpired,
    Overtaken,
    Page,
    PastEnd,
    ShardGone,
    TimeAhead,
    Unmet,
    Unread,
)

__all__ = [
    "Begin",
    "FastReader",
    "IteratorExpired",
    "Overtaken",
    "Page",
    "PastEnd",
    "Reach",
    "Record",
    "ShardGone",
    "TimeAhead",
    "Unmet",
    "Unread",
]  # fmt: skip
