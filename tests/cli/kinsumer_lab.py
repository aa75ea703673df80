"""A lab whose store is the three tables of a kinsumer application."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reshardctl.consumers.kinsumer.spec import tables
from reshardctl.model import Image, TableShape, table_of
from reshardctl.stores.dynamodb.client import image_of, key_of
from tests.cli.lab import Item, Lab
from tests.support.lease_server import _bytes

_names = itertools.count()


@dataclass
class KinsumerLab(Lab):
    """See `Lab`; keys are those of the images."""

    app: str = ""

    @property
    def locator(self) -> str:
        return f"kinsumer://{self.app}{self.options}"

    @property
    def shapes(self) -> Sequence[TableShape]:
        return tables(self.app)

    def items(self) -> dict[str, Item]:
        found: dict[str, Item] = {}
        for shape in self.shapes:
            for item in self.table.boto.scan(TableName=shape.name)["Items"]:
                image = image_of(item, shape)
                found[image.key] = {n: dict(v) for n, v in image.attributes.items()}
        return found

    def plant_images(self, images: Sequence[Image]) -> None:
        """Put rows in, over what is there."""
        for image in images:
            item = {name: _bytes(value) for name, value in image.attributes.items()}
            self.table.boto.put_item(
                TableName=table_of(self.shapes, image.key).name, Item=item
            )

    def restore(self, items: Mapping[str, Item]) -> None:
        for key in self.items().keys() - items.keys():
            shape = table_of(self.shapes, key)
            self.table.boto.delete_item(TableName=shape.name, Key=key_of(shape, key))
        self.plant_images([Image(key, item) for key, item in items.items()])

    def change(self, key: str, **attributes: Any) -> None:
        """Set attributes of a row, as another program would."""
        self.plant_images([Image(key, {**self.items()[key], **attributes})])


@contextmanager
def kinsumer_lab(
    lab: Lab, images: Sequence[Image], leave_out: str = "", app: str = ""
) -> Iterator[KinsumerLab]:
    """The same servers, stream and clock with tables of its own. leave_out: one not made."""
    ours = lab.beside(KinsumerLab, app=app or f"app{next(_names)}")
    made = [shape for shape in ours.shapes if not (leave_out and shape.name.endswith(leave_out))]
    for shape in made:
        lab.table.boto.create_table(
            TableName=shape.name, BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": shape.hash, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": shape.hash, "AttributeType": "S"}],
        )
    try:
        ours.plant_images([i for i in images if table_of(ours.shapes, i.key) in made])
        yield ours
    finally:
        for shape in made:
            lab.table.boto.delete_table(TableName=shape.name)
