"""The options, named like the connectors'; names in any case, values are texts.

startingPosition says where a query without a checkpoint begins. Our errors are told as text,
because PySpark passes on nothing but an exception's text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from msgspec import Struct, field

from reshardctl.errors import ReshardError, UsageError
from reshardctl.kinesis.fast import Reach
from reshardctl.kinesis.target import CHECK
from reshardctl.model import ShardId, decode, index_of, is_number
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.times import parse_instant

TRIM_HORIZON = "TRIM_HORIZON"
LATEST = "LATEST"
AT_TIMESTAMP = "AT_TIMESTAMP"
AFTER_SEQUENCE_NUMBER = "AFTER_SEQUENCE_NUMBER"
SHARD_END = "SHARD_END"
_FORMS = (
    "TRIM_HORIZON, LATEST, AT_TIMESTAMP 2026-09-22T09:14:00Z (or Unix seconds), or JSON: "
    '{"shardId-000000000000": "TRIM_HORIZON", "shardId-000000000001": '
    '{"AFTER_SEQUENCE_NUMBER": "4966…"}}'
)
_EARLIEST = 1_384_387_200
"""14 November 2013, Unix seconds, when Kinesis was announced; lower numbers are no record's time.
"""


class Start(Struct, frozen=True):
    """A start. kind: a constant of this module; value: a number, Unix seconds, or `None`."""

    kind: str
    value: str | float | None = None


class Starting(Struct, frozen=True):
    """The frontier to begin at: one start for all shards, or one for each named shard."""

    everywhere: Start | None = None
    shards: Mapping[ShardId, Start] = field(default_factory=dict)


def parse_starting(text: str) -> Starting:
    """Read the option; raises UsageError if it makes no sense."""
    stripped = text.strip()
    if stripped.startswith("{"):
        return Starting(shards=_shards(stripped))
    word, _, rest = stripped.partition(" ")
    kind = word.upper()
    if kind in (TRIM_HORIZON, LATEST) and not rest:
        return Starting(Start(kind))
    if kind == AT_TIMESTAMP and rest.strip():
        return Starting(Start(kind, _moment(rest.strip())))
    raise UsageError(f"startingPosition is {text[:80]!r}", f"write {_FORMS}")


def _shards(text: str) -> dict[ShardId, Start]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"startingPosition is no JSON: {error}", f"write {_FORMS}") from None
    starts: dict[ShardId, Start] = {}
    for name, start in value.items():
        if index_of(name) is None:
            raise UsageError(f"startingPosition: {name!r} is no shard id", f"write {_FORMS}")
        starts[ShardId(name)] = _start(name, start)
    if not starts:
        raise UsageError("startingPosition names no shard", f"write {_FORMS}")
    return starts


def _start(shard: str, given: object) -> Start:
    if isinstance(given, str):
        if given.upper() in (TRIM_HORIZON, LATEST, SHARD_END):
            return Start(given.upper())
        return Start(AFTER_SEQUENCE_NUMBER, _number(shard, given))
    if isinstance(given, Mapping) and len(given) == 1:
        ((kind, value),) = given.items()
        if kind == AT_TIMESTAMP:
            return Start(kind, _moment(str(value)))
        if kind == AFTER_SEQUENCE_NUMBER:
            return Start(kind, _number(shard, str(value)))
    raise UsageError(f"startingPosition of {shard} is {str(given)[:80]!r}", f"write {_FORMS}")


def _number(shard: str, text: str) -> str:
    if not is_number(text):
        what = f"startingPosition of {shard}: {text[:80]!r} is no sequence number"
        raise UsageError(what, f"write {_FORMS}")
    decoded = decode(text)
    if decoded is not None and decoded.shard != index_of(shard):
        raise UsageError(
            f"startingPosition of {shard}: {text} is a number of shard {decoded.shard}",
            "give each shard a number of its own records",
        )
    if decoded is not None and decoded.is_end:
        raise UsageError(
            f"startingPosition of {shard}: {text} is its EndingSequenceNumber, which no record has",
            'write "SHARD_END" for a shard of which nothing is to be read',
        )
    return text


def _moment(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return parse_instant(text, "startingPosition")
    if not _EARLIEST <= seconds < 1e10:
        raise UsageError(
            f"startingPosition: {text} is no time in Unix seconds",
            "write seconds, not milliseconds, or 2026-09-22T09:14:00Z",
        )
    return seconds


COMMON = (
    "streamName",
    "streamARN",
    "region",
    "endpointUrl",
    "roleArn",
    "roleSessionName",
    "roleExternalId",
    "unpackAggregates",
    "shardsPerTask",
)
STREAMING = ("startingPosition", "failOnDataLoss", "maxRecordsPerTrigger")
LINES = ("startingLine", "endingLine")
FIXED = (*LINES, "intervals")
"""Options of a batch that say which records it has, whatever comes later."""
BATCH = (*FIXED, "failOnDataLoss")
_ELSEWHERE = {
    "stream": "streamName",
    "path": "streamName",
    "awsaccesskeyid": "the environment, a profile or roleArn",
    "awssecretkey": "the environment, a profile or roleArn",
    "awsaccesskey": "the environment, a profile or roleArn",
    "startingoffsets": "startingPosition",
    "endpoint": "endpointUrl",
    "initialposition": "startingPosition",
    "stsrolearn": "roleArn",
    "stssessionname": "roleSessionName",
    "schema": "no schema: the columns are fixed",
}
"""What to use for names in other connectors and other frequent ones, without `kinesis.`."""
_ARN_REGION = re.compile(r"arn:[^:]+:kinesis:([^:]+):")


class Options(Struct, frozen=True):
    """The common options; stream is a name or an ARN, unpack makes rows of aggregated records.

    shards_per_task: `None` for as few as the tasks of a batch allow, see `pieces`.
    """

    reach: Reach
    stream: str
    unpack: bool
    shards_per_task: int | None

    @property
    def stream_name(self) -> str:
        """The stream's name, also if an ARN was given."""
        return self.stream.rpartition("/")[2]


class StreamOptions(Struct, frozen=True):
    """The further options of a streaming query. most: records a trigger, `None` = no limit."""

    common: Options
    starting: Starting
    fail_on_loss: bool
    most: int | None


def common_options(options: Mapping[str, str], further: tuple[str, ...]) -> Options:
    """The common options; UsageError for wrong ones and those that are not in `further`."""
    given = {name.lower(): value for name, value in options.items()}
    _all_known(given, (*COMMON, *further))
    name, arn = given.get("streamname"), given.get("streamarn")
    if bool(name) == bool(arn):
        what = "both streamName and streamARN are" if name else "no streamName or streamARN is"
        raise UsageError(f"{what} given", '.option("streamName", "orders"), or streamARN alone')
    if arn and not _ARN_REGION.match(arn):
        raise UsageError(
            f"streamARN {arn!r} is no ARN of a stream",
            "it has the form arn:aws:kinesis:REGION:ACCOUNT:stream/NAME",
        )
    return Options(
        _reach(given, arn),
        name or arn or "",
        _truth(given, "unpackAggregates", True),
        _count(given, "shardsPerTask"),
    )


def stream_options(options: Mapping[str, str]) -> StreamOptions:
    """The options of a streaming query; raises UsageError like `common_options`."""
    common = common_options(options, STREAMING)
    given = {name.lower(): value for name, value in options.items()}
    return StreamOptions(
        common,
        parse_starting(given.get("startingposition", TRIM_HORIZON)),
        _truth(given, "failOnDataLoss", True),
        _count(given, "maxRecordsPerTrigger"),
    )


def fails_on_loss(options: Mapping[str, str]) -> bool:
    """The option failOnDataLoss. UsageError for what is neither true nor false."""
    given = {name.lower(): value for name, value in options.items()}
    return _truth(given, "failOnDataLoss", True)


def _reach(given: Mapping[str, str], arn: str | None) -> Reach:
    region = given.get("region") or None
    match = _ARN_REGION.match(arn or "")
    if match and region and match[1] != region:
        what = f"streamARN is in {match[1]}, but region says {region}"
        raise UsageError(what, "leave region out")
    role = given.get("rolearn") or None
    for name in ("roleSessionName", "roleExternalId"):
        if given.get(name.lower()) and not role:
            raise UsageError(f"{name} is given without roleArn", "name the role, or leave it out")
    return Reach(
        region=region or (match[1] if match else None),
        endpoint_url=given.get("endpointurl") or None,
        role_arn=role,
        role_session_name=given.get("rolesessionname") or None,
        role_external_id=given.get("roleexternalid") or None,
    )


def _all_known(given: Mapping[str, str], names: tuple[str, ...]) -> None:
    known = {name.lower() for name in names}
    takes = f"the options are {', '.join(names)}"
    for option in given:
        if option not in known:
            bare = option.removeprefix("kinesis.")
            instead = _ELSEWHERE.get(bare)
            raise UsageError(
                f"unknown option {option!r}",
                f"use {instead}; {takes}" if instead else did_you_mean(bare, names, takes),
            )


def _truth(given: Mapping[str, str], name: str, default: bool) -> bool:
    text = str(given.get(name.lower(), default)).strip().lower()
    if text not in ("true", "false"):
        raise UsageError(f"{name} is {text!r}", "write true or false")
    return text == "true"


def _count(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name.lower())
    if text is None:
        return None
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise UsageError(f"{name} is {text!r}", "write a whole number from 1 on, or leave it out")
    return count


T = TypeVar("T")
_WORDS = (
    ("add --region, or set", 'add .option("region", "us-east-1"), or set'),
    (CHECK, 'check .option("region", …) and the credentials:'),
    ("--region, --endpoint-url and AWS_ENDPOINT_URL_KINESIS", "the options region and endpointUrl"),
    ("give --stream a name", "give streamName a name"),
)
"""Words of our commands, and those of this source."""


class SourceFailed(Exception):
    """A query's failure: what happened, and on the next line what to do."""


def told(error: ReshardError) -> SourceFailed:
    """The error with its advice in its text, in a query's words instead of a command's."""
    way = error.next
    for command, here in _WORDS:
        way = way.replace(command, here)
    return SourceFailed(f"{error.what}\n{way}" if way else error.what)


def telling(method: Callable[..., T]) -> Callable[..., T]:
    """Lets a method raise `told` errors."""

    @wraps(method)
    def wrapped(*args: Any, **options: Any) -> T:
        try:
            return method(*args, **options)
        except ReshardError as error:
            raise told(error) from None

    return wrapped
