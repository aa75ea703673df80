"""The options, named like the connectors'; names in any case, values are texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from reshardctl.errors import UsageError
from reshardctl.kinesis.fast import Reach
from reshardctl.model.phrases import did_you_mean
from reshardctl.spark.source.starting import TRIM_HORIZON, Starting, parse_starting

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
BATCH = ("startingLine", "endingLine")
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


@dataclass(frozen=True, slots=True)
class Options:
    """The common options; stream is a name or an ARN, unpack makes rows of aggregated records."""

    reach: Reach
    stream: str
    unpack: bool
    shards_per_task: int

    @property
    def stream_name(self) -> str:
        """The stream's name, also if an ARN was given."""
        return self.stream.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class StreamOptions:
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
        _count(given, "shardsPerTask") or 1,
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
