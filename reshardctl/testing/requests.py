"""A request on its way through the fake, checked before any stream, and the shape of an answer.

Errors are a code, a text and an HTTP status. Texts are recorded answers of AWS where one is known
(kinesalite's tests, which run against AWS too; boto3#1478; KCL#391; beam#33478;
amazon-kinesis-scaling-utils#82). The others are ours.

Constraints of the API model on single parameters follow the recorded form "1 validation error
detected: Value 'x' at 'y' failed to satisfy constraint: Member must ..." (kinesalite's tests).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, NoReturn

from msgspec import Struct

Params = Mapping[str, Any]
Answer = dict[str, Any]


class Call(NamedTuple):
    """One entry of the call log."""

    action: str
    params: Params


class Request(Struct, frozen=True):
    """One request: an API action, its parameters in AWS's shape, blobs as bytes.

    page, view: for faults; a smaller page, and the listing from before or after the last reshard,
    whatever the stream's status. A "torn" page is one from before whose continuation is from after.
    """

    action: str
    params: Params
    region: str
    account: str
    now: float = 0.0
    page: int | None = None
    view: Literal["before", "after", "torn"] | None = None


class ApiError(Exception):
    """The service refuses; clients act on `code`."""

    def __init__(self, code: str, message: str | None = None, status: int | None = None) -> None:
        known = _KNOWN.get(code, ("", 400))
        self.code = code
        self.message = known[0] if message is None else message
        self.status = known[1] if status is None else status
        super().__init__(f"{self.code}: {self.message}")


class NoAnswerError(Exception):
    """The connection breaks: before the request took effect, or after it (`executed`)."""

    def __init__(self, *, executed: bool) -> None:
        self.executed = executed
        super().__init__("no answer, " + ("executed" if executed else "not executed"))


_KNOWN: dict[str, tuple[str, int]] = {
    "LimitExceededException": ("Rate exceeded for stream.", 400),
    "ProvisionedThroughputExceededException": ("Rate exceeded for shard.", 400),
    "ThrottlingException": ("Rate exceeded", 400),
    "InternalFailure": ("", 500),
    "ServiceUnavailable": ("", 503),
    "ExpiredTokenException": ("The security token included in the request is expired", 400),
    "UnrecognizedClientException": ("The security token included in the request is invalid.", 400),
    "AccessDeniedException": ("User is not authorized to perform this action", 400),
    "ExpiredNextTokenException": ("The specified NextToken has expired.", 400),
    "ExpiredIteratorException": ("Iterator expired.", 400),
    "ResourceInUseException": ("The resource is not available for this operation.", 400),
    "ResourceNotFoundException": ("The requested resource could not be found.", 400),
    "InvalidArgumentException": ("A specified parameter is not valid.", 400),
    "ValidationException": ("The input fails to satisfy the constraints.", 400),
}


def invalid(message: str) -> NoReturn:
    """Raise InvalidArgumentException."""
    raise ApiError("InvalidArgumentException", message)


def not_valid(message: str) -> NoReturn:
    """Raise ValidationException, which precedes every check of the stream."""
    raise ApiError("ValidationException", message)


def stream_not_found(name: str, account: str) -> NoReturn:
    """Raise ResourceNotFoundException for a stream."""
    message = f"Stream {name} under account {account} not found."
    raise ApiError("ResourceNotFoundException", message)


def shard_not_found(shard_id: str, name: str, account: str) -> NoReturn:
    """Raise ResourceNotFoundException for a shard that is being read."""
    message = f"Shard {shard_id} in stream {name} under account {account} does not exist"
    raise ApiError("ResourceNotFoundException", message)


def no_such_shard(shard_id: str, name: str, account: str) -> NoReturn:
    """Raise ResourceNotFoundException for a shard that is being resharded."""
    message = f"Could not find shard {shard_id} in stream {name} under account {account}."
    raise ApiError("ResourceNotFoundException", message)


def not_active(name: str, account: str, status: str) -> NoReturn:
    """Raise ResourceInUseException for a stream that is busy."""
    message = f"Stream {name} under account {account} not ACTIVE, instead in state {status}"
    raise ApiError("ResourceInUseException", message)


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
