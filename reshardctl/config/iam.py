"""The least IAM policies for a configuration: one for each identity that is used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from reshardctl.config.entries import Consumer, Reach
from reshardctl.consumers.registry import consumer_of
from reshardctl.errors import UsageError
from reshardctl.journal.log import is_s3, s3_object
from reshardctl.journal.s3 import ACTIONS
from reshardctl.kinesis.target import ACTIONS as STREAM
from reshardctl.stores.dynamodb.client import ACTIONS as TABLE
from reshardctl.stores.files.s3 import ACTIONS as FILES

Statement = dict[str, Any]

TABLES = "tables"
GROUPS = {
    "inspect": ("inspect", "inspect"), "probe": ("probe", "inspect"), "fix": ("inspect", "fix"),
    TABLES: ("", TABLES),
}
"""What is to be done → the groups of actions on streams, "" for none, and on stores."""
BUCKETS = frozenset({"s3files", "quickwit-s3"})
"""Media of stores that are kept on S3."""
ENVIRONMENT = "the environment's own credentials"

_ARN = re.compile(r"arn:(?P<partition>[\w-]+):\w+:(?P<region>[\w-]*):(?P<account>\d{12}):")


class ArnParts(Struct, frozen=True):
    """Partition, region and account of an ARN."""

    partition: str
    region: str
    account: str


def policies(
    consumers: Iterable[Consumer], group: str, account: str = ""
) -> dict[str, dict[str, Any]]:
    """Identity → policy. group: a key of `GROUPS`. account: for what no ARN names.

    Raises UsageError if a region or an account is unknown.
    """
    statements_of: dict[str, list[Statement]] = {}
    on_stream, on_table = GROUPS[group]
    for entry in consumers:
        stream, reach = entry.stream, entry.reach
        if on_stream:
            _add(statements_of, stream.reach, _stream(entry, STREAM[on_stream], account))
        arn_parts = _place(reach, entry.origin, account)
        for statement in _store(entry, arn_parts, on_table):
            _add(statements_of, reach, statement)
        if group == "fix" and is_s3(entry.journal):
            for statement in _journal(entry.journal, arn_parts.partition):
                _add(statements_of, reach, statement)
    return {
        identity: {"Version": "2012-10-17", "Statement": statements}
        for identity, statements in statements_of.items()
    }


def identity(reach: Reach) -> str:
    """The identity that makes the calls."""
    if reach.role:
        return reach.role
    return f"profile {reach.profile}" if reach.profile else ENVIRONMENT


def _add(statements_of: dict[str, list[Statement]], reach: Reach, statement: Statement) -> None:
    """Adds each statement once; the identity that assumes a role is allowed only that."""
    own = statements_of.setdefault(identity(reach), [])
    if statement not in own:
        own.append(statement)
    if reach.role:
        base = Reach(profile=reach.profile)
        assume = _allow(("sts:AssumeRole",), reach.role)
        whose = statements_of.setdefault(identity(base), [])
        if assume not in whose:
            whose.append(assume)


def _stream(entry: Consumer, actions: tuple[str, ...], account: str) -> Statement:
    stream = entry.stream
    if stream.stream.startswith("arn:"):
        return _allow(actions, stream.stream)
    arn_parts = _place(stream.reach, stream.origin, account)
    where = f"arn:{arn_parts.partition}:kinesis:{arn_parts.region}:{arn_parts.account}"
    return _allow(actions, f"{where}:stream/{stream.stream}")


def _place(reach: Reach, origin: str, account: str) -> ArnParts:
    role = _ARN.match(reach.role)
    whose = role["account"] if role else account
    if not reach.region:
        raise UsageError(
            f"{origin}: its region is not said, so that no ARN can be made",
            'add region = "eu-west-1" there or under [defaults], or give --region',
        )
    if not whose:
        raise UsageError(
            f"{origin}: its account is not said, so that no ARN can be made",
            "give --account 123456789012",
        )
    return ArnParts(role["partition"] if role else _partition(reach.region), reach.region, whose)


def _partition(region: str) -> str:
    """The partition of a region (AWS General Reference, "Amazon Resource Names")."""
    prefixes = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
    return next((name for prefix, name in prefixes.items() if region.startswith(prefix)), "aws")


def _store(entry: Consumer, arn_parts: ArnParts, group: str) -> list[Statement]:
    """Statements on the table, with its side tables, or on the bucket; none outside AWS."""
    medium, target = entry.locator.medium, entry.locator.target
    table = f"arn:{arn_parts.partition}:dynamodb:{arn_parts.region}:{arn_parts.account}:table/"
    if group == TABLES:
        return _tables(entry, table)
    log = _log(entry, table, group)
    if medium not in ("dynamodb", *BUCKETS):
        return log
    if medium in BUCKETS:
        bucket_name, _, prefix = target.partition("#")[0].partition("/")
        return [*_below(arn_parts.partition, bucket_name, prefix, FILES[group]), *log]
    sides = [side.name for side in consumer_of(entry.locator).side_tables(table + target)]
    beside = [_allow(TABLE["beside"], *sides)] if sides else []
    shapes = entry.locator.spec.tables(target, entry.locator.options)
    return [_allow(TABLE[group], *(table + shape.name for shape in shapes)), *beside]


def _tables(entry: Consumer, table: str) -> list[Statement]:
    """The statement on all tables that the application may have."""
    spec, options = entry.locator.spec, entry.locator.options
    if entry.locator.medium != "dynamodb" and spec.log_table(options) is None:
        return []
    own = spec.new_tables(entry.locator.target, options).tables
    return [_allow(TABLE[TABLES], *(table + new.shape.name for new in own))]


def _log(entry: Consumer, table: str, group: str) -> list[Statement]:
    """Statements on the table that keeps a part of what its files hold otherwise."""
    shape = entry.locator.spec.log_table(entry.locator.options)
    if shape is None:
        return []
    return [_allow(TABLE["log" if group == "fix" else group], table + shape.name)]


def _journal(text: str, partition: str) -> list[Statement]:
    where = s3_object(text)
    return _below(partition, where.bucket, where.key, ACTIONS)


def _below(
    partition: str, name: str, prefix: str, actions: tuple[str, ...]
) -> list[Statement]:
    """Statements on a prefix; s3:ListBucket is a permission on the bucket itself."""
    own = f"arn:{partition}:s3:::{name}"
    objects = tuple(action for action in actions if action != "s3:ListBucket")
    prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    return [_allow(("s3:ListBucket",), own), _allow(objects, f"{own}/{prefix}*")]


def _allow(actions: tuple[str, ...], *resources: str) -> Statement:
    resource = list(resources) if len(resources) > 1 else resources[0]
    return {"Effect": "Allow", "Action": list(actions), "Resource": resource}
