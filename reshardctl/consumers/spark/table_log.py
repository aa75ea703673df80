"""awslabs' log in a DynamoDB table: one row for each batch and shard.

`metadataKey` (hash) is the batch, `metadataSortKey` (range) the shard, `metadataValue` the text
that a file of the log holds (DynamodbMetadataCommitter of awslabs v1.4.2 to 0f4c005). A row is
written only where none exists, and its key does not name the query. So a query on a table that
another one used meets rows of batches that it never ran (spark-sql-kinesis-connector#12 and #26
come of it).
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
    """Whether an image is a row of the table, not a file."""
    return image.key.startswith(PREFIX) and HASH in image.attributes


def joined(folders: Folders, rows: Iterable[Image], source: str) -> Folders:
    """The files of a checkpoint, with the table's rows in place of the log's files."""
    log = f"{SOURCES}/{source}/shard-source"
    joined_folders = {
        name: files for name, files in folders.items() if not f"{name}/".startswith(f"{log}/")
    }
    for row in rows:
        batch, _, shard = row.key.removeprefix(PREFIX).partition("/")
        folder = f"{log}/{batch}"
        joined_folders[folder] = {**joined_folders.get(folder, {}), shard: _as_file(row)}
    return joined_folders


def ahead_of(keys: Iterable[str], log: int) -> tuple[str, ...]:
    """Keys of rows of later batches than `log`, by the connector's ids, in their order."""
    later = []
    for key in keys:
        batch, slash, _ = key.removeprefix(PREFIX).partition("/")
        if key.startswith(PREFIX) and slash and batch.isdigit() and int(batch) > log:
            later.append((int(batch), key))
    return tuple(key for _, key in sorted(later))


def _as_file(row: Image) -> Image:
    value = row.attributes.get(VALUE, {}).get("S")
    if value is None:
        return Image(row.key, {"unread": {"S": f"{VALUE} is no text"}})
    return Image(row.key, {"text": {"S": value}})
