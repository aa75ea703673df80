"""awslabs' log in a DynamoDB table: one row for each batch and shard.

`metadataKey` (hash) is the batch, `metadataSortKey` (range) the shard, `metadataValue` the text
that the log in files holds in a file (DynamodbMetadataCommitter of awslabs v1.4.2 to 0f4c005). A
row is put only where none is: the first writer wins, and the key does not say of which query it
is. So a query on a table that another one used meets rows of batches that it never ran
(spark-sql-kinesis-connector#12 and #26 come of it).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reshardctl.consumers.spark.folders import SOURCES, Folders
from reshardctl.model import Image, TableShape

PREFIX = "log/"
HASH, RANGE, VALUE = "metadataKey", "metadataSortKey", "metadataValue"
OPTION = "log"


def beside(options: Mapping[str, str]) -> TableShape | None:
    """The table that a locator names, `None` where it names none."""
    name = options.get(OPTION)
    if name is None:
        return None
    return TableShape(name, PREFIX, HASH, RANGE, holds="a connector's log")


def is_row(image: Image) -> bool:
    """Whether an image is a row of the table, and no file."""
    return image.key.startswith(PREFIX) and HASH in image.attributes


def joined(folders: Folders, rows: Iterable[Image], source: str) -> Folders:
    """The files of a checkpoint, with the rows in the place of the log in files."""
    log = f"{SOURCES}/{source}/shard-source"
    found = {name: files for name, files in folders.items() if not f"{name}/".startswith(f"{log}/")}
    for row in rows:
        batch, _, shard = row.key.removeprefix(PREFIX).partition("/")
        found[f"{log}/{batch}"] = {**found.get(f"{log}/{batch}", {}), shard: _as_file(row)}
    return found


def ahead_of(keys: Iterable[str], log: int) -> tuple[str, ...]:
    """Keys of rows of later batches than this one, by the connector's count, in their order."""
    found = []
    for key in keys:
        batch, slash, _ = key.removeprefix(PREFIX).partition("/")
        if key.startswith(PREFIX) and slash and batch.isdigit() and int(batch) > log:
            found.append((int(batch), key))
    return tuple(key for _, key in sorted(found))


def _as_file(row: Image) -> Image:
    value = row.attributes.get(VALUE, {}).get("S")
    if value is None:
        return Image(row.key, {"unread": {"S": f"{VALUE} is no text"}})
    return Image(row.key, {"text": {"S": value}})
