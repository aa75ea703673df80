"""Media of Spark in AWS: a checkpoint in a bucket, and awslabs' log in a DynamoDB table.

A bucket holds what no folder does: an object with the name of a folder, names that begin with a
slash, markers of consoles and of Hadoop, archived objects ("Naming Amazon S3 objects" and "Working
with archived objects", Amazon S3 User Guide). The log's key is batch and shard, its value the text
of a file: DynamodbMetadataCommitter of awslabs v1.4.2 to 0f4c005.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

from tests.cli.damaged.media_files import UNNAMED, contents
from tests.cli.damaged.medium import Medium, Setting, Store
from tests.cli.damaged.row_damages import Row, damaged_rows
from tests.cli.damaged.text_damages import damaged_text
from tests.cli.spark_lab import HEAD, QUBOLE, V1, SparkLab
from tests.cli.spark_log_lab import TABLE, dynamodb, log_lab, rows
from tests.cli.spark_s3_lab import BucketLab, bucket_lab

Told = tuple[Sequence[str], str]
ROOT = "jobs/orders/"
ODD_NAMES = (
    "~", ".tmp", "/", "//", "/x", "/../x", "_$folder$", "\n", "\x1b[2J", " ", "ü", "/.", "/..",
)  # fmt: skip
"""Behind a key: what stands beside an object, or below it."""
ODD_BESIDE = (
    "-1", "00", "1e3", "9" * 30, "٣", ".", "..", "1.compact", "+1", "1_0", "9223372036854775808",
    "a\nb", "x" * 900, "%2e%2e", "a?b#c", "1/", "1//2",
)  # fmt: skip


def other_bytes(dice: Random, lab: BucketLab, key: str) -> str:
    way, content = damaged_text(dice, lab.files()[key][0])
    lab.put(key, content)
    return way


def lost(_dice: Random, lab: BucketLab, key: str) -> str:
    lab.s3.delete_object(Bucket=lab.bucket, Key=key)
    return "lost"


def another_object(dice: Random, lab: BucketLab, key: str) -> str:
    files = lab.files()
    lab.put(key, files[dice.choice(sorted(files))][0])
    return "another object's bytes"


def folder_is_lost(dice: Random, lab: BucketLab, key: str) -> str:
    parts = key.removeprefix(ROOT).split("/")
    folder = ROOT + "/".join(parts[:dice.randrange(1, len(parts))]) if len(parts) > 1 else key
    for one in lab.files():
        if one == key or one.startswith(f"{folder}/"):
            lab.s3.delete_object(Bucket=lab.bucket, Key=one)
    return f"all below {folder} lost"


def object_behind_it(dice: Random, lab: BucketLab, key: str) -> str:
    name = key + dice.choice(ODD_NAMES)
    lab.put(name, dice.choice((b"", b"x", lab.files()[key][0])))
    return f"an object {name!r}"


def object_beside_it(dice: Random, lab: BucketLab, key: str) -> str:
    name = f"{key.rpartition('/')[0]}/{dice.choice(ODD_BESIDE)}"
    lab.put(name, dice.choice((b"", b"x", lab.files()[key][0])))
    return f"an object {name[:80]!r}"


def folder_is_an_object(dice: Random, lab: BucketLab, key: str) -> str:
    """A marker as consoles, Hadoop's S3A and EMR leave them, or an object that a hand put."""
    folder = key.rpartition("/")[0]
    name = folder + dice.choice(("", "/", "_$folder$"))
    lab.put(name, dice.choice((b"", b"x")))
    return f"an object {name!r}"


def archived(dice: Random, lab: BucketLab, key: str) -> str:
    """GetObject answers InvalidObjectState until it is restored."""
    kind = dice.choice(("GLACIER", "DEEP_ARCHIVE"))
    content = lab.files()[key][0]
    lab.s3.put_object(Bucket=lab.bucket, Key=key, Body=content, StorageClass=kind)
    return f"archived ({kind})"


BUCKET_DAMAGES = {
    other_bytes: 12, lost: 1, another_object: 1, folder_is_lost: 1, object_behind_it: 2,
    object_beside_it: 2, folder_is_an_object: 1, archived: 1,
}  # fmt: skip
"""And how often."""


def of_bucket(lab: BucketLab) -> Store:
    def damage(dice: Random) -> Told:
        key = dice.choice(sorted(lab.files()))
        (way,) = dice.choices(list(BUCKET_DAMAGES), list(BUCKET_DAMAGES.values()))
        how = way(dice, lab, key)
        inside = key.removeprefix(ROOT)
        return (f"s3://{lab.bucket}", inside, inside.split("/")[0], *UNNAMED), f"{key}: {how}"

    return Store(lab, damage, lab.files, lab.files)


@contextmanager
def in_a_bucket(release: str, shape: str, slash: str, setting: Setting) -> Iterator[Store]:
    with bucket_lab(release, shape, slash, *setting.basics) as lab:
        yield of_bucket(lab)


def row_damaged(dice: Random, lab: SparkLab) -> Told:
    """An attribute is lost, another, of another type, or unknown."""
    found = by_key(lab)
    way, key, after = damaged_rows(dice, found, frozenset({"metadataKey", "metadataSortKey"}))
    for one, row in after.items():
        if row != found[one]:
            _client(lab).put_item(TableName=TABLE, Item=row)
    return (key, key.split("/")[2]), f"{key}: {way}: {str(after[key])[:200]}"


def text_damaged(dice: Random, lab: SparkLab) -> Told:
    """The value is a text that is damaged as a file's is; as bytes where it is UTF-8 no more."""
    key, row = dice.choice(sorted(by_key(lab).items()))
    way, content = damaged_text(dice, row["metadataValue"]["S"].encode())
    try:
        value: dict[str, Any] = {"S": content.decode()}
    except UnicodeDecodeError:
        value = {"B": content}
    _client(lab).put_item(TableName=TABLE, Item={**row, "metadataValue": value})
    return (key, key.split("/")[2]), f"{key}: {way}"


def row_lost(dice: Random, lab: SparkLab) -> Told:
    key, row = dice.choice(sorted(by_key(lab).items()))
    names = ("metadataKey", "metadataSortKey")
    _client(lab).delete_item(TableName=TABLE, Key={name: row[name] for name in names})
    return (key, key.split("/")[2], "log/", TABLE), f"{key}: lost"


def batch_lost(dice: Random, lab: SparkLab) -> Told:
    found = by_key(lab)
    batch = dice.choice(sorted({key.split("/")[1] for key in found}))
    for key, row in found.items():
        if key.split("/")[1] == batch:
            _client(lab).delete_item(TableName=TABLE, Key={
                name: row[name] for name in ("metadataKey", "metadataSortKey")
            })  # fmt: skip
    return (f"log/{batch}", TABLE, "log of the connector"), f"batch {batch} lost"


def odd_row(dice: Random, lab: SparkLab) -> Told:
    """A row of another query, another program or a hand."""
    _, row = dice.choice(sorted(by_key(lab).items()))
    batch = dice.choice((
        row["metadataKey"]["S"], "-1", "00", "1e3", "٣", " 1", "9" * 30, "x", "1/2", "ü", "\x1b[2J",
        "9223372036854775808", "1" * 5000, "x" * 2000,
    ))[:2000]  # fmt: skip
    shard = dice.choice((
        row["metadataSortKey"]["S"], "shardId-000000000099", "shardId-", "a/b", "/", " ", "ü",
        "\x1b[2J", "x" * 1000, "..",
    ))  # fmt: skip
    odd = {**row, "metadataKey": {"S": batch}, "metadataSortKey": {"S": shard}}
    _client(lab).put_item(TableName=TABLE, Item=odd)
    return (f"log/{batch[:20]}", batch[:20], shard[:20]), f"a row {batch[:30]!r} {shard[:30]!r}"


def checkpoint_damaged(dice: Random, lab: SparkLab) -> Told:
    """A file beside the table: what the two say together."""
    key = dice.choice(sorted(key for key, value in contents(lab.root).items() if value))
    path = lab.root / key
    if not path.is_file():
        return (), "nothing"
    way, content = damaged_text(dice, path.read_bytes())
    path.write_bytes(content)
    return (str(lab.root), key, key.split("/")[0], *UNNAMED), f"{key}: {way}"


LOG_DAMAGES = {
    row_damaged: 5, text_damaged: 8, row_lost: 1, batch_lost: 1, odd_row: 3, checkpoint_damaged: 1,
}  # fmt: skip
"""And how often."""


def by_key(lab: SparkLab) -> dict[str, Row]:
    return {f"log/{r['metadataKey']['S']}/{r['metadataSortKey']['S']}": r for r in rows(lab)}


def _client(lab: SparkLab) -> Any:
    return dynamodb(lab.servers.dynamodb)


def of_log(lab: SparkLab, files: Any) -> Store:
    def damage(dice: Random) -> Told:
        (way,) = dice.choices(list(LOG_DAMAGES), list(LOG_DAMAGES.values()))
        named, how = way(dice, lab)
        return (*named, TABLE, *UNNAMED), how

    def stored() -> Any:
        return files(), rows(lab)

    return Store(lab, damage, stored, stored)


@contextmanager
def log_in_its_table(shape: str, setting: Setting) -> Iterator[Store]:
    with log_lab(shape, *setting.basics) as lab:
        yield of_log(lab, partial(contents, lab.root))


BUCKETS = [(HEAD, "s1x", "/"), (HEAD, "s1", ""), (QUBOLE, "s3", ""), (V1, "u1", "")]
MEDIA = [
    *(Medium("-".join(("s3", *state[:2])), partial(in_a_bucket, *state), few=number % 2)
      for number, state in enumerate(BUCKETS)),
    *(Medium(f"log-{shape}", partial(log_in_its_table, shape), few=int(shape == "s1x"))
      for shape in ("s1", "s1x")),
]
