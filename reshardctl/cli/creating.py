"""The command that makes a consumer's table again, where it was deleted.

Keys: as the libraries make them (KCL DynamoDBLeaseSerializer.getKeySchema: leaseKey; kinsumer's
and kinesis-consumer's own sources). Billing on demand: no release looks at it, and the capacity
that KCL 1.x used to provide (10 and 10) is too little for a fleet that starts at once. The index
on leaseOwner KCL 3.x adds itself at its first start, as it does to an older table.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from reshardctl.consumers.layouts import TABLES
from reshardctl.locator import Locator
from reshardctl.model import TableShape


def creation(place: Locator, table: str, more: Sequence[str]) -> str:
    """The command. more: words that say which region and account."""
    shaped = TABLES.get(place.consumer)
    shapes = shaped(place.target, place.options) if shaped else (TableShape(place.target),)
    shape = next((one for one in shapes if one.name == table), shapes[0])
    keys = zip(shape.names, ("HASH", "RANGE"), strict=False)
    words = [
        "aws", "dynamodb", "create-table", "--table-name", shape.name,
        "--attribute-definitions",
        *(f"AttributeName={name},AttributeType=S" for name in shape.names),
        "--key-schema", *(f"AttributeName={name},KeyType={kind}" for name, kind in keys),
        "--billing-mode", "PAY_PER_REQUEST", *more,
    ]
    return " ".join(shlex.quote(word) for word in words)
