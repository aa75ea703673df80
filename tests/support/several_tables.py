"""Stores of several tables and of composite keys, seen through the keys of the contract suite.

The suite's rows are `a`, `b`, `k000`; behind the mask each is a row of one of the tables, with the
key attributes that this table has. Attribute names that DynamoDB reserves are on purpose.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from msgspec.structs import replace

from reshardctl.model import Create, Image, Step, TableShape, Write, canonical
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.dynamodb import DynamoDb
from tests.support.lease_server import Clock, _bytes, session

_names = itertools.count()
Shaped = Callable[[str], Sequence[TableShape]]


def two_tables(name: str) -> list[TableShape]:
    return [
        TableShape(f"{name}_checkpoints", "checkpoints/", "Shard"),
        TableShape(f"{name}_metadata", "metadata/", "Key"),
    ]


def composite(name: str) -> list[TableShape]:
    return [TableShape(name, hash="namespace", range="shard_id")]


def fixed(name: str) -> list[TableShape]:
    return [TableShape(name, hash="namespace", range="shard_id", fixed="app-a/b%2F")]


@dataclass(frozen=True)
class Mask:
    """The medium of a store, under the suite's keys."""

    inner: Any
    shapes: Sequence[TableShape]

    @property
    def max_writes(self) -> int:
        return int(self.inner.max_writes)

    def table(self, key: str) -> TableShape:
        return self.shapes[crc32(key.encode()) % len(self.shapes)]

    def worn(self, key: str) -> str:
        table = self.table(key)
        if table.range is None:
            return table.prefix + key
        return {"app-a/b%2F": "app-a%2Fb%252F"}.get(table.fixed or "", "app") + "/" + key

    def key_attributes(self, key: str) -> dict[str, Any]:
        table = self.table(key)
        values = [key] if table.range is None else [table.fixed or "app", key]
        return {name: {"S": value} for name, value in zip(table.names, values, strict=True)}

    def put_on(self, image: Image) -> Image:
        return Image(
            self.worn(image.key), canonical(dict(image.attributes) | self.key_attributes(image.key))
        )

    def taken_off(self, image: Image) -> Image:
        values = image.attributes
        bare = image.key.rpartition("/")[2]
        mine = self.key_attributes(bare)
        assert {name: values[name] for name in mine} == mine
        assert image.key == self.worn(bare)
        return Image(bare, {n: v for n, v in values.items() if n not in mine})

    def identity(self) -> Mapping[str, str]:
        return self.inner.identity()

    def read(self) -> list[Image]:
        rows = [self.taken_off(image) for image in self.inner.read()]
        return sorted(rows, key=lambda image: image.key)

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        found = self.inner.get([self.worn(key) for key in keys])
        rows = {key: found[self.worn(key)] for key in keys}
        return {key: row and self.taken_off(row) for key, row in rows.items()}

    def write(self, step: Step, token: str) -> WriteResult:
        return self.inner.write(replace(step, writes=tuple(map(self._worn, step.writes))), token)

    def _worn(self, write: Write) -> Write:
        change = write.change
        if isinstance(change, Create):
            change = Create(dict(change.attributes) | self.key_attributes(write.key))
        before = write.before and self.put_on(write.before)
        return replace(write, key=self.worn(write.key), change=change, before=before)


class SeveralTables:
    """Tables of their own for one test; the contract suite's Store."""

    def __init__(self, url: str, shaped: Shaped) -> None:
        self.url = url
        self.shapes = shaped(f"store-{next(_names)}")
        self.clock = Clock()
        self.boto = session().client("dynamodb", endpoint_url=url)
        for shape in self.shapes:
            self.create(shape)

    def create(self, shape: TableShape) -> None:
        kinds = zip(("HASH", "RANGE"), shape.names, strict=False)
        self.boto.create_table(
            TableName=shape.name, BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": name, "KeyType": kind} for kind, name in kinds],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in shape.names
            ],
        )

    def bare(self, boto_session: Any = None) -> DynamoDb:
        return DynamoDb(
            boto_session or session(), self.shapes, endpoint_url=self.url,
            clock=self.clock.read, sleep=self.clock.sleep,
        )

    def medium(self, boto_session: Any = None) -> Mask:
        return Mask(self.bare(boto_session), self.shapes)

    def plant(self, image: Image) -> None:
        mask = self.medium()
        item = {name: _bytes(value) for name, value in mask.put_on(image).attributes.items()}
        self.boto.put_item(TableName=mask.table(image.key).name, Item=item)

    def pull(self, key: str) -> None:
        mask = self.medium()
        self.boto.delete_item(TableName=mask.table(key).name, Key=mask.key_attributes(key))
