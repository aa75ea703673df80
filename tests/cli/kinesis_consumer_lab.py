"""A lab whose store is a DynamoDB table of kinesis-consumer positions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reshardctl.model import Image
from tests.cli.lab import Item, Lab
from tests.support.lease_server import _bytes

_names = itertools.count()


@dataclass
class PositionsLab(Lab):
    """See `Lab`; keys are those of the images."""

    name: str = ""

    @property
    def locator(self) -> str:
        return f"kinesis-consumer+ddb://{self.name}{self.options}"

    def items(self) -> dict[str, Item]:
        found = self.table.boto.scan(TableName=self.name)["Items"]
        return {f"{i['namespace']['S']}/{i['shard_id']['S']}": i for i in found}

    def plant_images(self, images: Sequence[Image]) -> None:
        """Put rows in, over what is there."""
        for image in images:
            item = {name: _bytes(value) for name, value in image.attributes.items()}
            self.table.boto.put_item(TableName=self.name, Item=item)

    def change(self, key: str, **attributes: Any) -> None:
        """Set attributes of a row, as another program would."""
        self.plant_images([Image(key, {**self.items()[key], **attributes})])


@contextmanager
def positions_lab(
    lab: Lab, images: Sequence[Image], name: str = ""
) -> Iterator[PositionsLab]:
    """The same servers, stream and clock with a table of its own."""
    ours = lab.beside(PositionsLab, name=name or f"kinesis_consumer_{next(_names)}")
    parts = (("namespace", "HASH"), ("shard_id", "RANGE"))
    lab.table.boto.create_table(
        TableName=ours.name, BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in parts],
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name, _ in parts
        ],
    )
    try:
        ours.plant_images(images)
        yield ours
    finally:
        lab.table.boto.delete_table(TableName=ours.name)
