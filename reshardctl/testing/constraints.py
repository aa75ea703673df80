"""Constraints of the API model on single parameters, checked before any stream.

Texts follow the recorded form "1 validation error detected: Value 'x' at 'y' failed to satisfy
constraint: Member must ..." (kinesalite's tests, which run against AWS too).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reshardctl.testing.errors import ApiError, not_valid
from reshardctl.testing.requests import Params

_NAME = ("StreamName", "StreamARN", "StreamId")
REQUIRED: dict[str, tuple[str, ...]] = {
    "CreateStream": ("StreamName",),
    "DeleteStream": (),
    "DescribeLimits": (),
    "DescribeStream": (),
    "DescribeStreamSummary": (),
    "ListStreams": (),
    "ListShards": (),
    "PutRecord": ("Data", "PartitionKey"),
    "PutRecords": ("Records",),
    "GetShardIterator": ("ShardId", "ShardIteratorType"),
    "GetRecords": ("ShardIterator",),
    "SplitShard": ("ShardToSplit", "NewStartingHashKey"),
    "MergeShards": ("ShardToMerge", "AdjacentShardToMerge"),
    "UpdateShardCount": ("TargetShardCount", "ScalingType"),
    "IncreaseStreamRetentionPeriod": ("RetentionPeriodHours",),
    "DecreaseStreamRetentionPeriod": ("RetentionPeriodHours",),
}
_OPTIONAL: dict[str, tuple[str, ...]] = {
    "CreateStream": ("ShardCount", "StreamModeDetails", "Tags"),
    "DeleteStream": (*_NAME, "EnforceConsumerDeletion"),
    "DescribeStream": (*_NAME, "Limit", "ExclusiveStartShardId"),
    "DescribeStreamSummary": _NAME,
    "ListStreams": ("Limit", "ExclusiveStartStreamName", "NextToken"),
    "ListShards": (
        *_NAME,
        "NextToken",
        "ExclusiveStartShardId",
        "MaxResults",
        "StreamCreationTimestamp",
        "ShardFilter",
    ),
    "PutRecord": (*_NAME, "ExplicitHashKey", "SequenceNumberForOrdering"),
    "PutRecords": _NAME,
    "GetShardIterator": (*_NAME, "StartingSequenceNumber", "Timestamp"),
    "GetRecords": ("StreamARN", "StreamId", "Limit"),
    "SplitShard": _NAME,
    "MergeShards": _NAME,
    "UpdateShardCount": _NAME,
    "IncreaseStreamRetentionPeriod": _NAME,
    "DecreaseStreamRetentionPeriod": _NAME,
}
_RANGES = {
    "MaxResults": (1, 10000),
    "Limit": (1, 10000),
    "ShardCount": (1, None),
    "TargetShardCount": (1, None),
    "RetentionPeriodHours": (1, 8760),
}
_PATTERNS = {
    "StreamName": r"[a-zA-Z0-9_.-]+",
    "ShardId": r"[a-zA-Z0-9_.-]+",
    "ExclusiveStartShardId": r"[a-zA-Z0-9_.-]+",
    "ShardToSplit": r"[a-zA-Z0-9_.-]+",
    "ShardToMerge": r"[a-zA-Z0-9_.-]+",
    "AdjacentShardToMerge": r"[a-zA-Z0-9_.-]+",
    "StartingSequenceNumber": r"0|([1-9]\d{0,128})",
    "SequenceNumberForOrdering": r"0|([1-9]\d{0,128})",
    "NewStartingHashKey": r"0|([1-9]\d{0,38})",
    "ExplicitHashKey": r"0|([1-9]\d{0,38})",
}
_TYPES: dict[str, type] = {
    **dict.fromkeys(_RANGES, int),
    **dict.fromkeys(_PATTERNS, str),
    "StreamARN": str,
    "NextToken": str,
    "ShardIterator": str,
    "ShardIteratorType": str,
    "ScalingType": str,
    "PartitionKey": str,
    "Data": bytes,
    "ShardFilter": Mapping,
    "StreamModeDetails": Mapping,
    "Records": list,
}
_ENUMS = {
    "ShardIteratorType": (
        "AFTER_SEQUENCE_NUMBER",
        "LATEST",
        "AT_TIMESTAMP",
        "AT_SEQUENCE_NUMBER",
        "TRIM_HORIZON",
    ),
    "ScalingType": ("UNIFORM_SCALING",),
}


def unknown_parameters(action: str, params: Params) -> list[str]:
    """Parameters that the API model does not know for this action."""
    known = REQUIRED[action] + _OPTIONAL.get(action, ())
    return [name for name in params if name not in known]


def missing_parameters(action: str, params: Params) -> list[str]:
    """Parameters that the action requires and that are absent."""
    return [name for name in REQUIRED[action] if params.get(name) is None]


def check(action: str, params: Params) -> None:
    """Raises SerializationException for a wrong type, ValidationException for the rest."""
    for name, value in params.items():
        _check_type(name, value)
    broken = [_text("null", name, "Member must not be null")
              for name in missing_parameters(action, params)]  # fmt: skip
    for name, value in params.items():
        rule = _breach(name, value)
        if rule is not None:
            broken.append(_text(f"'{value}'", name, rule))
    if action == "ListShards" and "Type" not in params.get("ShardFilter", {"Type": ""}):
        broken.append(_text("null", "shardFilter.type", "Member must not be null"))
    if action == "PutRecords":
        broken += _record_breaches(params.get("Records") or [])
    if broken:
        noun = "error" if len(broken) == 1 else "errors"
        not_valid(f"{len(broken)} validation {noun} detected: " + "; ".join(broken))


def _check_type(name: str, value: object) -> None:
    wanted = _TYPES.get(name, object)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        message = f"{name}: {type(value).__name__} found where {wanted.__name__} was expected"
        raise ApiError("SerializationException", message)


def _record_breaches(records: list[Mapping[str, Any]]) -> list[str]:
    if not 1 <= len(records) <= 500:
        return [_text("'[...]'", "records", "Member must have length less than or equal to 500")]
    return [
        _text(
            "null", f"records.{i + 1}.member.{name[0].lower()}{name[1:]}", "Member must not be null"
        )
        for i, record in enumerate(records)
        for name in ("Data", "PartitionKey")
        if record.get(name) is None
    ]


def _breach(name: str, value: Any) -> str | None:
    if name in _RANGES:
        least, most = _RANGES[name]
        if value < least:
            return f"Member must have value greater than or equal to {least}"
        if most is not None and value > most:
            return f"Member must have value less than or equal to {most}"
    if name in _PATTERNS and not re.fullmatch(_PATTERNS[name], value):
        return f"Member must satisfy regular expression pattern: {_PATTERNS[name]}"
    if name in _ENUMS and value not in _ENUMS[name]:
        return f"Member must satisfy enum value set: [{', '.join(_ENUMS[name])}]"
    return None


def _text(value: str, name: str, rule: str) -> str:
    member = name[0].lower() + name[1:]
    return f"Value {value} at '{member}' failed to satisfy constraint: {rule}"
