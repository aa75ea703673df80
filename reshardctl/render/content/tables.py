"""The DynamoDB tables of consumers, to be made: by the AWS CLI, Terraform, CloudFormation or SQL.

And what was found when they were looked at, as lines for people.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reshardctl.consumers.tables import (
    NewTable,
    OwnTables,
    Remark,
    attributes,
    capacity_json,
    create_command,
    index_json,
    key_json,
)
from reshardctl.errors import NoStore, ReshardError, command_line
from reshardctl.exit import Exit
from reshardctl.model.tables import Capacity, SeenTable, key_of
from reshardctl.render.content.report_json import error_json, exit_json
from reshardctl.render.document import Json
from reshardctl.render.words import count


class Wanted(Struct, frozen=True):
    """The tables of one consumer. name: for people. sql: the statement that makes its table, or "".

    region: of the tables, "" where none is said.
    """

    name: str
    own: OwnTables = OwnTables()
    region: str = ""
    sql: str = ""


def cli(consumers: Sequence[Wanted]) -> Iterator[str]:
    """Commands of the AWS CLI, for a POSIX shell."""
    for wanted in consumers:
        yield from _head(wanted)
        for new in _needed(wanted):
            yield from _folded(create_command(new, region=wanted.region))
            if new.ttl:
                named = ["--table-name", new.shape.name]
                where = ["--region", wanted.region] if wanted.region else []
                yield command_line("aws", "dynamodb", "wait", "table-exists", *named, *where)
                yield from _folded([
                    "aws", "dynamodb", "update-time-to-live", *named,
                    "--time-to-live-specification", f"Enabled=true,AttributeName={new.ttl}", *where,
                ])


def _folded(words: Sequence[str]) -> Iterator[str]:
    """A command with an option on each line."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--"):
            parts.append([])
        parts[-1].append(shlex.quote(word))
    lines = [" ".join(part) for part in parts]
    yield f"{lines[0]} {lines[1]} \\"
    yield from (f"  {line} \\" for line in lines[2:-1])
    yield f"  {lines[-1]}"


def terraform(consumers: Sequence[Wanted]) -> Iterator[str]:
    """Resources for the AWS provider of Terraform and OpenTofu."""
    names: dict[str, None] = {}
    for wanted in consumers:
        yield from _head(wanted)
        for new in _needed(wanted):
            name = _unique(re.sub(r"[^a-zA-Z0-9_-]|^(?=[0-9-])", "_", new.shape.name), names)
            yield f'resource "aws_dynamodb_table" "{name}" {{'
            yield from (f"  {line}" for line in _resource(new))
            yield "}"
            yield ""


def _resource(new: NewTable) -> Iterator[str]:
    (_, hash_key, _), *ranges = key_of(new.shape)
    yield from _aligned({
        "name": new.shape.name, **_terraform_billing(new.capacity),
        "hash_key": hash_key, **({"range_key": ranges[0][1]} if ranges else {}),
        "deletion_protection_enabled": False,
    })
    for attribute in attributes(new):
        yield from _block("attribute", {"name": attribute, "type": "S"})
    for index in new.indexes:
        yield from _block("global_secondary_index", {
            "name": index.name, "hash_key": index.hash, "range_key": index.range,
            "projection_type": "KEYS_ONLY", **_units(new.capacity),
        })
    if new.ttl:
        yield from _block("ttl", {"attribute_name": new.ttl, "enabled": True})
    yield from _block("point_in_time_recovery", {"enabled": False})


def _terraform_billing(capacity: Capacity | None) -> Mapping[str, object]:
    mode = "PROVISIONED" if capacity else "PAY_PER_REQUEST"
    return {"billing_mode": mode, **_units(capacity)}


def _units(capacity: Capacity | None) -> Mapping[str, object]:
    if capacity is None:
        return {}
    return {"read_capacity": capacity.read, "write_capacity": capacity.write}


def _block(name: str, values: Mapping[str, object]) -> Iterator[str]:
    yield f"{name} {{"
    yield from (f"  {line}" for line in _aligned(values))
    yield "}"


def _aligned(values: Mapping[str, object]) -> Iterator[str]:
    """Arguments as `terraform fmt` writes them. No name of a table has a character to escape."""
    width = max(map(len, values))
    yield from (f"{name:{width}} = {json.dumps(value)}" for name, value in values.items())


def cloudformation(consumers: Sequence[Wanted]) -> Iterator[str]:
    """A template in JSON. A table stays when its stack is deleted: it holds positions."""
    names: dict[str, None] = {}
    resources = {
        _unique(_logical(new.shape.name), names): {
            "Type": "AWS::DynamoDB::Table", "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain", "Properties": _properties(new),
        }
        for wanted in consumers for new in _needed(wanted)
    }
    named = ", ".join(wanted.name for wanted in consumers)
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"DynamoDB tables of {named}"[:_DESCRIPTION], "Resources": resources,
    }
    yield from json.dumps(template, indent=2).splitlines()


def _logical(table: str) -> str:
    """`OrdersCoordinatorState` for orders-CoordinatorState: letters and digits alone."""
    parts = re.findall(r"[a-zA-Z0-9]+", table)
    return "".join(part[0].upper() + part[1:] for part in parts) or "Table"


_DESCRIPTION = 1024
"""Bytes of a template's description at most (CloudFormation User Guide, quotas)."""


def _properties(new: NewTable) -> Mapping[str, Any]:
    billing: Mapping[str, object] = {"BillingMode": "PAY_PER_REQUEST"}
    if new.capacity is not None:
        units = capacity_json(new.capacity)
        billing = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    indexes = [index_json(index, new.capacity) for index in new.indexes]
    ttl = {"AttributeName": new.ttl, "Enabled": True}
    return {
        "TableName": new.shape.name,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in attributes(new)
        ],
        "KeySchema": key_json(key_of(new.shape)), **billing,
        **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
        **({"TimeToLiveSpecification": ttl} if new.ttl else {}),
        "DeletionProtectionEnabled": False,
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False},
    }


def sql(consumers: Sequence[Wanted]) -> Iterator[str]:
    """Statements for PostgreSQL or MySQL."""
    for wanted in consumers:
        yield f"-- {wanted.name}"
        yield f"{wanted.sql};"


FORMATS: Mapping[str, Callable[[Sequence[Wanted]], Iterable[str]]] = {
    "cli": cli, "terraform": terraform, "cloudformation": cloudformation, "sql": sql,
}


def _needed(wanted: Wanted) -> Iterator[NewTable]:
    return (new for new in wanted.own.tables if new.needed)


def _head(wanted: Wanted) -> Iterator[str]:
    yield f"# {wanted.name}: {wanted.own.made}."


def _unique(name: str, names: dict[str, None]) -> str:
    """The name, with a number behind it where it is taken."""
    number, found = 1, name
    while found in names:
        number += 1
        found = f"{name}{number}"
    names[found] = None
    return found


class TableLook(Struct, frozen=True):
    """A table that was looked at.

    seen: `None` where it is absent or was not described. failures: what could not be told of it.
    """

    new: NewTable
    seen: SeenTable | None = None
    remarks: tuple[Remark, ...] = ()
    failures: tuple[ReshardError, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether it harms the consumer."""
        return any(remark.wrong for remark in self.remarks)


class Look(Struct, frozen=True):
    """The tables of one consumer, as they are. failure: why none was looked at."""

    wanted: Wanted
    tables: tuple[TableLook, ...] = ()
    failure: ReshardError | None = None


def looked(looks: Sequence[Look]) -> Iterator[str]:
    """What was found, consumer by consumer, and what of it is wrong at the end."""
    for look in looks:
        yield look.wanted.name
        if look.failure is not None:
            yield from _failed(look.failure, "  ")
        elif not look.tables:
            yield "  it keeps its positions in no DynamoDB table"
        elif look.wanted.own.unsettled:
            yield (
                "  note: its release was not given: which tables and indexes it needs besides was "
                f"not judged; {look.wanted.own.unsettled}"
            )
        for table in look.tables:
            yield from _table(table)
    tables = [table for look in looks for table in look.tables if table.seen]
    wrong = sum(table.wrong for table in tables)
    yield f"{count(len(tables), 'table')} looked at, {wrong or 'none'} with something wrong."


def looked_json(looks: Sequence[Look], code: Exit) -> Json:
    """The same for programs, by `tables.schema.json`."""
    return {
        "schema": "reshardctl/tables/1", "exit": exit_json(code),
        "consumers": [
            {
                "name": look.wanted.name,
                "error": None if look.failure is None else error_json(look.failure),
                "unsettled": look.wanted.own.unsettled or None,
                "tables": [_table_json(table) for table in look.tables],
            }
            for look in looks
        ],
    }


def _table_json(look: TableLook) -> Json:
    """A table; `seen` is null where it is absent or could not be described."""
    seen = look.seen
    units = seen.capacity if seen else None
    return {
        "name": look.new.shape.name, "needed": look.new.needed,
        "seen": None if seen is None else {
            "region": seen.region, "status": seen.status, "rows": seen.rows,
            "capacity": None if units is None else {"read": units.read, "write": units.write},
            "indexes": [{"name": each.name, "status": each.status} for each in seen.indexes],
            "ttl": seen.ttl, "recovery": seen.recovery, "stream": seen.stream or None,
            "protected": seen.protected, "replicas": list(seen.replicas),
        },
        "wrong": look.wrong,
        "remarks": [
            {"wrong": remark.wrong, "what": remark.what, "next": remark.next}
            for remark in look.remarks
        ],
        "errors": [error_json(failure) for failure in look.failures],
    }


def _table(look: TableLook) -> Iterator[str]:
    seen = look.seen
    if seen is None:
        if look.failures:
            yield f"  {look.new.shape.name}"
        for failure in look.failures:
            yield from _failed(failure, "    ")
        return
    units = seen.capacity
    billed = f"{units.read} read and {units.write} write units" if units else "billed by request"
    parts = [seen.name, seen.region, f"about {count(seen.rows, 'row')}", billed]
    yield "  " + "   ".join([*parts, *(f"index {i.name} {i.status}" for i in seen.indexes)])
    for remark in look.remarks:
        yield f"    {'wrong' if remark.wrong else 'note'}: {remark.what}"
        if remark.next:
            yield f"      {remark.next}"
    for failure in look.failures:
        yield from _failed(failure, "    ")


def _failed(error: ReshardError, margin: str) -> Iterator[str]:
    missing = isinstance(error, NoStore)
    yield f"{margin}{'missing' if missing else 'could not tell'}: {error.what}"
    if error.next:
        yield f"{margin}  {error.next}"
