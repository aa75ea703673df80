"""A DynamoDB table as DynamoDB describes it, without its rows."""

from __future__ import annotations

from msgspec import Struct

from reshardctl.model.images import TableShape

TableKey = tuple[tuple[str, str, str], ...]
"""Kind (HASH, RANGE), name and type of each part of a primary key."""


class Capacity(Struct, frozen=True):
    """Provisioned read and write units a second."""

    read: int
    write: int


class SeenIndex(Struct, frozen=True):
    """A global secondary index that there is. status, projection: as DescribeTable says them."""

    name: str
    key: TableKey
    status: str
    projection: str
    capacity: Capacity | None = None


class SeenTable(Struct, frozen=True):
    """A table that there is.

    Attributes:
        status: As DescribeTable says it.
        rows: Its ItemCount, which DynamoDB brings up to date about every six hours.
        capacity: `None` for a table billed by request.
        ttl: The attribute of its time to live, "" where that is off, `None` if it was not told.
        expiring: Keys of the rows that have this attribute as a number.
        recovery: Whether point-in-time recovery is on, `None` if that was not told.
        stream: What its stream holds (StreamViewType), "" without one.
        protected: Whether it is protected from deletion.
        replicas: Regions of a global table.
    """

    name: str
    region: str
    key: TableKey
    status: str
    rows: int
    capacity: Capacity | None = None
    indexes: tuple[SeenIndex, ...] = ()
    ttl: str | None = ""
    expiring: tuple[str, ...] = ()
    recovery: bool | None = None
    stream: str = ""
    protected: bool = False
    replicas: tuple[str, ...] = ()


def key_of(shape: TableShape) -> TableKey:
    """The primary key of a table, as DescribeTable lists it."""
    return tuple(
        (kind, name, "S") for kind, name in zip(("HASH", "RANGE"), shape.names, strict=False)
    )
