"""Spark Structured Streaming: the checkpoint directories of queries that read Kinesis."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from reshardctl.codec.values import AT
from reshardctl.consumers.spark.files import METADATA, VALUE, beside
from reshardctl.consumers.spark.positions import PLAIN
from reshardctl.consumers.spec import BUCKET, Missing, Scheme, Spec, create_dynamodb_table
from reshardctl.consumers.tables import NewTable, OwnTables
from reshardctl.errors import command_line
from reshardctl.model.files import on_this_machine


def _create_store(missing: Missing) -> str:
    """How to make the directory: files that are written to it belong to the one who owns it.

    On S3 it is an object that stands for a directory, as Hadoop's connector makes it. Or how to
    make the table, where that is what is missing.
    """
    if missing.error.table:
        return create_dynamodb_table(missing)
    target = missing.target
    bucket, _, prefix = target.rstrip("/").partition("/")
    if missing.medium == "s3files" and prefix:
        make = command_line("aws", "s3api", "put-object", "--bucket", bucket, "--key", f"{prefix}/")
        return f"make it first: {make}"
    if missing.medium == "s3files" or "~" in target:
        return missing.error.next
    make = "mkdir -p" if on_this_machine(target) is not None else "hadoop fs -mkdir -p"
    return f"make it first, as the user of the query: {make} {shlex.quote(target)}"


def _new_tables(_target: str, options: Mapping[str, str]) -> OwnTables:
    """The table of awslabs' connector, where it keeps a part of the log in DynamoDB.

    DynamodbMetadataCommitter.createMetadataTableIfNotExists of 2.0.0: billed by request.
    """
    shape = beside(options)
    if shape is None:
        return OwnTables()
    made = "awslabs' connector makes the table where it is missing, if it may call CreateTable"
    return OwnTables((NewTable(shape),), made)


SPARK = Spec(
    name="spark",
    schemes={
        "spark": Scheme(
            "spark", "files", re.compile(r"[^\0]+\Z"), "checkpoint directory of a query",
            "spark:/checkpoints/my-query?release=awslabs-2.0&startingPosition=TRIM_HORIZON",
            bare=True,
        ),
        "spark+s3": Scheme(
            "spark", "s3files", BUCKET, "bucket, with or without a prefix",
            "spark+s3://my-bucket/checkpoints/my-query?release=awslabs-2.0",
        ),
    },
    log_table=beside,
    new_tables=_new_tables,
    identity_rows={"query": METADATA},
    create_store=_create_store,
    volatile_attributes=frozenset({"crc", "crc_stored_with", "modified", "size", "stored_with"}),
    kinds=frozenset({AT}),
    rests_on=("text", "bytes", "crc", "unread", VALUE),
    plain=PLAIN,
    ambiguous_options=("release", "startingPosition", "sink", "consumerType"),
    selectors=("source", "log"),
    least_watch=30.0,
)
