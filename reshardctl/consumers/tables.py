"""The DynamoDB tables that a library keeps: as it makes them, and what is wrong with existing ones.

Each library describes its own in `Spec.new_tables`, from its source. `config tables` prints that,
and with --check compares it with what DynamoDB answers. No library turns point-in-time recovery,
deletion protection, a stream or tags on unless the application asks for it: KCL 3.5.1
(LeaseManagementConfig, DdbTableConfig), kinsumer 1.6.0 (dynamoCreateTableIfNotExists), awslabs'
connector 2.0.0 (DynamodbMetadataCommitter).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reshardctl.errors import command_line
from reshardctl.model import TableShape
from reshardctl.model.phrases import listed
from reshardctl.model.tables import Capacity, SeenTable, TableKey, key_of


class Index(Struct, frozen=True):
    """A global secondary index. hash, range: strings of its key; it projects the keys alone."""

    name: str
    hash: str
    range: str

    @property
    def key(self) -> TableKey:
        """Its key, as DescribeTable lists it."""
        return (("HASH", self.hash, "S"), ("RANGE", self.range, "S"))


class NewTable(Struct, frozen=True):
    """A table as the library makes it.

    Attributes:
        shape: Its name, its key and what its rows are.
        capacity: `None` for a table billed by request.
        indexes: Its global secondary indexes.
        ttl: The attribute of the time to live that the library wants, "" for none.
        expiring: What stands in the keys of the rows that may expire.
        needed: Whether the library needs it; if not, it uses the table where it exists.
    """

    shape: TableShape
    capacity: Capacity | None = None
    indexes: tuple[Index, ...] = ()
    ttl: str = ""
    expiring: str = ""
    needed: bool = True


class Writes(Struct, frozen=True):
    """How often the library writes a row of its first table.

    Attributes:
        a_second: Writes of one row; each takes one write unit, as a row has less than 1 KB.
        why: A clause that says whence they are.
        always: Whether it writes every row so often while it runs, or at most.
    """

    a_second: float
    why: str
    always: bool


class OwnTables(Struct, frozen=True):
    """The tables of one application.

    Attributes:
        tables: The one with the positions first.
        made: Who makes them, as a sentence.
        unsettled: What has to be said before they can be made, as the next step; "" for nothing.
        writes: `None` where the library does not write at a pace of its own.
    """

    tables: tuple[NewTable, ...] = ()
    made: str = ""
    unsettled: str = ""
    writes: Writes | None = None


class Remark(Struct, frozen=True):
    """What is to be said of a table. wrong: whether it harms the consumer. next: a command."""

    what: str
    wrong: bool = False
    next: str = ""


def key_text(key: TableKey) -> str:
    """`HASH leaseKey (S), RANGE …`."""
    return ", ".join(f"{kind} {name} ({of})" for kind, name, of in key)


def remarks(new: NewTable, seen: SeenTable, writes: Writes | None) -> list[Remark]:
    """What is wrong with a table, and then what is good to know.

    writes: those that the library makes to this table, `None` where there is no known pace.
    """
    found = [
        *_of_keys(new, seen), *_of_indexes(new, seen), *_of_capacity(seen, writes),
        *_of_expiry(new, seen), *_beside(seen),
    ]
    return sorted(found, key=lambda remark: not remark.wrong)


def _of_keys(new: NewTable, seen: SeenTable) -> Iterator[Remark]:
    if seen.status not in ("ACTIVE", "UPDATING"):
        yield Remark(f"it is {seen.status}, not ACTIVE", True)
    if seen.key != key_of(new.shape):
        yield Remark(
            f"its key is {key_text(seen.key)}, and a table of {new.shape.holds} has "
            f"{key_text(key_of(new.shape))}; a key cannot be changed", True,
        )


def _of_indexes(new: NewTable, seen: SeenTable) -> Iterator[Remark]:
    there = {index.name: index for index in seen.indexes}
    for index in new.indexes:
        found = there.get(index.name)
        if found is None:
            yield Remark(
                f"it has no index {index.name}: the library adds it at its next start, if it may "
                "call UpdateTable", True, _add(index, seen),
            )
        elif found.key != index.key or found.projection not in ("KEYS_ONLY", "ALL"):
            yield Remark(
                f"its index {index.name} has the key {key_text(found.key)} and projects "
                f"{found.projection}: the library's has {key_text(index.key)} and KEYS_ONLY", True,
            )
    for found in seen.indexes:
        if found.status != "ACTIVE":
            yield Remark(f"its index {found.name} is {found.status}, not ACTIVE", True)
        elif found.capacity and seen.capacity and found.capacity.write < seen.capacity.write:
            yield Remark(
                f"its index {found.name} has {found.capacity.write} write units and the table "
                f"{seen.capacity.write}: writes that change the index are throttled at the lower"
            )


def _of_capacity(seen: SeenTable, writes: Writes | None) -> Iterator[Remark]:
    if seen.capacity is None or writes is None:
        return
    needed, has = seen.rows * writes.a_second, seen.capacity.write
    rows = "1 row" if seen.rows == 1 else f"{seen.rows} rows"
    most = "" if writes.always else "up to "
    said = f"{writes.why}: for {rows} {most}{needed:.3g} write units a second"
    by_request = command_line(
        "aws", "dynamodb", "update-table", "--region", seen.region, "--table-name", seen.name,
        "--billing-mode", "PAY_PER_REQUEST",
    )
    if needed <= has:
        yield Remark(
            f"{has} write units are provisioned. {said}"
            + ("; checkpoints come on top" if writes.always else "")
        )
    elif writes.always:
        yield Remark(
            f"it is throttled while the application runs: {said} without checkpoints, and {has} "
            "are provisioned", True, by_request,
        )
    else:
        yield Remark(f"it may be throttled: {said}, and {has} are provisioned", next=by_request)


def _of_expiry(new: NewTable, seen: SeenTable) -> Iterator[Remark]:
    if seen.ttl is None:
        return
    own = seen.ttl == new.ttl
    if not seen.ttl:
        if new.ttl:
            yield Remark(
                f"time to live is off: nothing deletes old rows of workers, by {new.ttl}"
            )
        return
    lost = [key for key in seen.expiring if not (own and new.expiring in key)]
    if lost:
        rows = "1 row has it" if len(lost) == 1 else f"{len(lost)} rows have it"
        yield Remark(
            f"time to live is on for {seen.ttl}, and {rows}: DynamoDB deletes such rows at that "
            f"time ({listed(sorted(lost), 3)})", True,
            command_line(
                "aws", "dynamodb", "update-time-to-live", "--region", seen.region,
                "--table-name", seen.name, "--time-to-live-specification",
                f"Enabled=false,AttributeName={seen.ttl}",
            ),
        )
    elif not own:
        yield Remark(f"time to live is on for {seen.ttl}, which no row has")


def _beside(seen: SeenTable) -> Iterator[Remark]:
    if seen.recovery is False:
        yield Remark("point-in-time recovery is off")
    if not seen.protected:
        yield Remark("deletion protection is off")
    if seen.stream:
        yield Remark(
            f"it has a stream ({seen.stream}): whatever reads it is called for every write"
        )
    if seen.replicas:
        yield Remark(
            f"it is a global table, with replicas in {listed(sorted(seen.replicas), 5)}: run the "
            "application in one region only"
        )


def _add(index: Index, seen: SeenTable) -> str:
    """The command that adds an index; KCL gives it the table's own capacity."""
    action: dict[str, Any] = index_json(index, seen.capacity)
    return command_line(
        "aws", "dynamodb", "update-table", "--region", seen.region, "--table-name", seen.name,
        "--attribute-definitions",
        *(f"AttributeName={name},AttributeType=S" for name in (index.hash, index.range)),
        "--global-secondary-index-updates", json.dumps([{"Create": action}]),
    )


def attributes(new: NewTable) -> list[str]:
    """The attributes of all keys of a table, its own first; all of them are strings."""
    own = [*new.shape.names, *(name for i in new.indexes for name in (i.hash, i.range))]
    return list(dict.fromkeys(own))


def index_json(index: Index, capacity: Capacity | None) -> dict[str, Any]:
    """An index as CreateTable, UpdateTable and CloudFormation take it."""
    return {
        "IndexName": index.name, "KeySchema": key_json(index.key),
        "Projection": {"ProjectionType": "KEYS_ONLY"},
        **({"ProvisionedThroughput": capacity_json(capacity)} if capacity else {}),
    }


def key_json(key: TableKey) -> list[Mapping[str, str]]:
    """A key schema, as CreateTable and CloudFormation take it."""
    return [{"AttributeName": name, "KeyType": kind} for kind, name, _ in key]


def capacity_json(capacity: Capacity) -> Mapping[str, int]:
    """Provisioned units, as CreateTable and CloudFormation take them."""
    return {"ReadCapacityUnits": capacity.read, "WriteCapacityUnits": capacity.write}


def create_command(new: NewTable, *, region: str = "") -> Sequence[str]:
    """The words of the AWS CLI's command that makes a table."""
    return [
        "aws", "dynamodb", "create-table", "--table-name", new.shape.name,
        "--attribute-definitions",
        *(f"AttributeName={name},AttributeType=S" for name in attributes(new)),
        "--key-schema",
        *(f"AttributeName={name},KeyType={kind}" for kind, name, _ in key_of(new.shape)),
        *_indexes(new), *_billing(new.capacity), *(("--region", region) if region else ()),
    ]


def _indexes(new: NewTable) -> list[str]:
    if not new.indexes:
        return []
    all_of_them = [index_json(index, new.capacity) for index in new.indexes]
    return ["--global-secondary-indexes", json.dumps(all_of_them)]


def _billing(capacity: Capacity | None) -> list[str]:
    if capacity is None:
        return ["--billing-mode", "PAY_PER_REQUEST"]
    units = f"ReadCapacityUnits={capacity.read},WriteCapacityUnits={capacity.write}"
    return ["--billing-mode", "PROVISIONED", "--provisioned-throughput", units]
