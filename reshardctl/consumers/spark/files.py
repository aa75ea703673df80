"""A checkpoint's files: by folder, their contents, the checksums beside them, and writes of them.

Checksums are Hadoop's: `.<name>.crc` beside every file that it writes on a local disk. `crc` and a
zero byte, the chunk's size, one CRC-32 for each chunk, all big-endian (ChecksumFileSystem; equal to
every sibling that Spark 3.3.4 to 4.3.0 and the connectors wrote in runs of November 2026). Spark's
default checkpoint reader does not verify them.

Which names Spark takes for batches: HDFSMetadataLog.isBatchFile, `name.toLong`. Temporary files:
`.<name>.<uuid>.tmp` (CheckpointFileManager.generateTempPath; `.TID<n>` in tasks).

awslabs' log may lie in a DynamoDB table instead: one row for each batch and shard. `metadataKey`
(hash) is the batch, `metadataSortKey` (range) the shard, `metadataValue` the text that a file of
the log holds (DynamodbMetadataCommitter of awslabs v1.4.2 to 0f4c005). A row is written only where
none exists, and its key does not name the query. So a query on a table that another one used meets
rows of batches that it never ran (spark-sql-kinesis-connector#12 and #26 come of it).

`metadata` holds the query's id. StreamMetadata: `{"id":"<uuid>"}`. Without the file, releases up to
4.1 give the query a new id, and 4.2 and later refuse to start
(STREAMING_CHECKPOINT_MISSING_METADATA_FILE; runs, November 2026). A file without a UUID keeps every
release from starting (14 texts on Spark 3.5.9, 4.0.5 and 4.3.0).
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Iterable, Mapping
from hashlib import sha256

from reshardctl.consumers.spark.spark_json import Malformed, member, members_of
from reshardctl.model import Attributes, Create, Delete, Image, TableShape, Update, Write
from reshardctl.model.files import AlikeText, AlikeValue

CHUNK = 512
"""file.bytes-per-checksum as Hadoop ships it."""

_MAGIC = b"crc\0"
_HEAD = len(_MAGIC) + 4


def checksum(content: bytes, chunk: int = CHUNK) -> bytes:
    """The bytes of a content's checksum file."""
    sums = (zlib.crc32(content[at : at + chunk]) for at in range(0, len(content), chunk))
    return _MAGIC + struct.pack(">i", chunk) + b"".join(struct.pack(">I", crc) for crc in sums)


def holds(content: bytes, crc: bytes) -> bool:
    """Whether a checksum file belongs to this content, whatever chunk size the file names."""
    if len(crc) < _HEAD or crc[: len(_MAGIC)] != _MAGIC:
        return False
    (chunk,) = struct.unpack(">i", crc[len(_MAGIC) : _HEAD])
    return chunk > 0 and crc == checksum(content, chunk)


Folders = Mapping[str, Mapping[str, Image]]
"""Folder ("" for the root) → name → file; a subfolder's name ends in `/`."""

OFFSETS, COMMITS, SOURCES, STATE, METADATA = "offsets", "commits", "sources", "state", "metadata"

_BATCH = re.compile(r"(?:0|[1-9]\d{0,17})\Z", re.ASCII)
_LONG = re.compile(r"[+-]?\d{1,19}\Z", re.ASCII)
_TEMPORARY = re.compile(r"\..+\.tmp\Z")


def by_folder(images: Iterable[Image]) -> Folders:
    """Images sorted into their folders."""
    folders: dict[str, dict[str, Image]] = {}
    inside: dict[str, Image] = {}
    last = None
    for image in images:
        folder, name = split(image.key)
        if folder != last:
            inside, last = folders.setdefault(folder, {}), folder
        inside[name] = image
    return folders


def split(key: str) -> tuple[str, str]:
    """A key's folder ("" for the root) and its name in it."""
    folder, _, name = key.rpartition("/")
    if not name:
        folder, _, name = folder.rpartition("/")
        name += "/"
    return folder, name


def batches(folders: Folders, folder: str) -> dict[int, Image]:
    """The files in a folder that Spark takes for logs of batches, ascending."""
    inside = folders.get(folder, {})
    numbers = sorted(map(int, filter(_BATCH.match, inside)))
    return {number: inside[str(number)] for number in numbers}


def is_batch(name: str) -> bool:
    """Whether a name is a batch id as Spark writes it."""
    return _BATCH.match(name) is not None


def passes_for_batch(name: str) -> bool:
    """Whether Spark takes a name for a batch id although it would spell it otherwise."""
    return _LONG.match(name.removesuffix("/")) is not None and not is_batch(name)


def is_temporary(name: str) -> bool:
    """Whether a crashed writer left a file of this name."""
    return _TEMPORARY.match(name) is not None


def was_read(image: Image) -> bool:
    """Whether the file was read, or can never be read."""
    attributes = image.attributes
    return "text" in attributes or "bytes" in attributes or "unread" in attributes


def is_orphan(image: Image) -> bool:
    """Whether only the file's checksum exists."""
    attributes = image.attributes
    return "crc" in attributes and "size" not in attributes and not was_read(image)


def text_of(image: Image) -> str:
    """The file's text; raises Malformed where it has none."""
    return str(kept_text_of(image))


def kept_text_of(image: Image) -> str | AlikeText:
    """The file's text as it is kept, for a file that may be long; raises Malformed as `text_of`."""
    if (value := image.attributes.get("text")) is not None:
        return value.text if isinstance(value, AlikeValue) else str(value["S"])
    if "unread" in image.attributes:
        raise Malformed(f"it cannot be read: {image.attributes['unread']['S']}")
    raise Malformed("it is no UTF-8 text" if "bytes" in image.attributes else "it was not read")


def bytes_of(image: Image) -> bytes | None:
    """The file's content, `None` where it was not read."""
    if "text" in image.attributes:
        return str(image.attributes["text"]["S"]).encode()
    return _binary(image, "bytes")


def crc_of(image: Image) -> bytes | None:
    """The bytes of the checksum file, `None` where there is none."""
    return _binary(image, "crc")


def _binary(image: Image, name: str) -> bytes | None:
    value = image.attributes.get(name, {}).get("B")
    return None if value is None else base64.b64decode(value)


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


GUARD = ("text", "bytes", "crc")
ROW_GUARD = (VALUE,)


def created(key: str, text: str, like: Image, why: str) -> Write:
    """Creates a file, with a checksum if `like` has one."""
    return Write(key, Create(_content(text, "crc" in like.attributes)), None, why)


def replaced(image: Image, text: str, why: str) -> Write:
    """Replaces a file's content."""
    other = ("bytes",) if "bytes" in image.attributes else ()  # it was no UTF-8 text
    return Write(
        image.key, Update(_content(text, "crc" in image.attributes), other), image, why, GUARD
    )


def removed(image: Image, why: str) -> Write:
    """Removes a file and its checksum, or a row of a log in a table."""
    return Write(image.key, Delete(), image, why, ROW_GUARD if is_row(image) else GUARD)


def _content(text: str, summed: bool) -> Attributes:
    content = {"text": {"S": text}}
    if summed:
        crc = checksum(text.encode())
        content["crc"] = {"B": base64.b64encode(crc).decode()}
    return content


_UUID = re.compile(r"[0-9a-f]{1,8}(?:-[0-9a-f]{1,4}){3}-[0-9a-f]{1,12}", re.IGNORECASE)
"""A UUID as java.util.UUID.fromString takes it."""


def query_id(image: Image | None) -> tuple[str, str]:
    """The query's id and "", or "" and what is wrong: "absent" for no file at all."""
    if image is None or is_orphan(image):
        return "", "absent"
    try:
        query = member(members_of(text_of(image), "it"), "id")
    except Malformed as error:
        return "", str(error)
    if not isinstance(query, str) or not _UUID.fullmatch(query):
        return "", "it holds no id"
    return query, ""


def metadata_of(image: Image | None, like: Image) -> str:
    """A readable `metadata` file: with the id of the unreadable one, else with a new id.

    The new id is always the same for the same checkpoint. like: its newest offset log.
    """
    text = "" if image is None else str(image.attributes.get("text", {}).get("S", ""))
    kept = _UUID.search(text)
    return f'{{"id":"{kept[0] if kept else _new_id(like)}"}}'


def _new_id(like: Image) -> str:
    digits = sha256(f"{like.key} {like.attributes}".encode()).hexdigest()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
