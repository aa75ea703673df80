"""Which columns are taken, what cannot be, and what the numbers themselves tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import UsageError
from reshardctl.spark.audit.columns import Columns, mapped
from reshardctl.spark.audit.shards import _decoded, time_in
from reshardctl.testing.shards import SequenceNumberError, parse

GOLDEN = Path(__file__).parents[3] / "golden" / "sequence_numbers.json"


def names(spark: Any, schema: str, columns: Columns = Columns()) -> dict[str, str]:  # noqa: B008
    return dict(mapped(spark.createDataFrame([], schema), columns).names)


def test_names_of_the_connectors(spark: Any) -> None:
    """Columns of qubole/kinesis-sql 1.2.0_spark-3.0 and awslabs' connector 2.0.0, and our own."""
    theirs = (
        "data BINARY, streamName STRING, partitionKey STRING, sequenceNumber STRING,"
        " approximateArrivalTimestamp TIMESTAMP"
    )
    assert names(spark, theirs) == {
        "number": "sequenceNumber", "key": "partitionKey", "stream": "streamName",
        "arrival": "approximateArrivalTimestamp",
    }  # fmt: skip
    ours = "Sequence_Number STRING, sub_sequence_number BIGINT, SHARD_ID STRING, stream STRING"
    assert names(spark, ours) == {
        "number": "Sequence_Number", "sub": "sub_sequence_number", "shard": "SHARD_ID",
        "stream": "stream",
    }  # fmt: skip


def test_fields_of_a_struct_and_none_at_all(spark: Any) -> None:
    schema = "kinesis STRUCT<seq: STRING, part: STRING>, shardId STRING"
    found = names(spark, schema, Columns(number="kinesis.seq", shard=""))
    assert found == {"number": "kinesis.seq"}


@pytest.mark.parametrize(
    ("schema", "columns", "what", "next_"),
    [
        ("a STRING, b STRING", Columns(), "there are a, b", "--column number=NAME"),
        ("sequenceNumber STRING, sequence_number STRING", Columns(),
         "several columns may be the number", "--column number=sequenceNumber"),
        ("sequenceNumber STRING", Columns(order="batch"), "there is no such column",
         "--column order="),
        ("sequenceNumber DOUBLE", Columns(), "cannot hold the 56 digits", "as text"),
        ("sequenceNumber DECIMAL(38,0)", Columns(), "cannot hold the 56 digits", "as text"),
    ],
)  # fmt: skip
def test_columns_that_will_not_do(
    spark: Any, schema: str, columns: Columns, what: str, next_: str
) -> None:
    with pytest.raises(UsageError) as caught:
        names(spark, schema, columns)
    assert what in caught.value.what and next_ in caught.value.next


def test_shard_and_time_of_public_numbers(spark: Any) -> None:
    """Public numbers of AWS, read by a decoder written apart: reshardctl.testing.shards."""
    texts = [one["number"] for one in json.loads(GOLDEN.read_text())["numbers"]]
    expected = {}
    for text in texts:
        try:
            expected[text] = parse(text)
        except SequenceNumberError:
            continue
    assert len(expected) > 50
    frame = spark.createDataFrame([(text,) for text in texts], "number STRING")
    rows = _decoded(frame).select("number", "in_number", time_in("number", 56).alias("time"))
    told = {row["number"]: (row["in_number"], row["time"]) for row in rows.collect()}
    assert {text: told[text] for text in expected} == {
        text: (one.shard, one.time) for text, one in expected.items()
    }


def test_arrivals_in_every_form(spark: Any) -> None:
    """2024-05-14T02:09:10.5Z, as connectors and exports write it."""
    seconds = 1715652550.5
    forms: dict[str, list[object]] = {
        "STRING": ["2024-05-14T02:09:10.500Z", "1715652550.5", "1715652550500",
                   "2024-05-14T04:09:10.500+02:00"],
        "DOUBLE": [seconds], "BIGINT": [1715652550500],
    }  # fmt: skip
    for kind, values in forms.items():
        schema = f"sequenceNumber STRING, approximateArrivalTimestamp {kind}"
        frame = spark.createDataFrame([("1", value) for value in values], schema)
        found = mapped(frame, Columns()).frame.select("arrival").collect()
        assert [row["arrival"] for row in found] == [seconds] * len(values), kind
    timed = spark.sql(
        "SELECT '1' AS sequenceNumber, TIMESTAMP_NTZ'2024-05-14 02:09:10.5' AS"
        " approximateArrivalTimestamp"
    )
    assert mapped(timed, Columns()).frame.collect()[0]["arrival"] == seconds
