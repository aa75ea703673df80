"""Tables that the real kinesis-consumer filled, restored from their dumps and read.

`tests/golden/kinesis-consumer` has the table as each server dumped it, once, and the rows of each
state. Every state was written into DynamoDB as well, with the same positions, except g6: a start at
LATEST, whose first record is another one in each run.
"""

from __future__ import annotations

import pytest

from reshardctl.model import TableShape
from reshardctl.stores.sql import SqlTable
from reshardctl.stores.sql.server import address_of
from tests.support.golden_kinesis_consumer import GOLDEN, STORES, images_of, rows_of
from tests.support.position_tables import create_table
from tests.support.servers import PASSWORD, USER
from tests.unit.stores.sql.test_contract import KINDS

TABLE = "kinesis_consumer"
SHAPE = TableShape(TABLE, hash="namespace", range="shard_id")


@pytest.mark.parametrize("made_by", ["dump", "tests"])
@pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)
def test_the_rows_as_they_were_written(running, store, made_by):
    """Also in the table that tests make for rows of their own."""
    kind, server = running
    database = KINDS[kind](address_of(f"{USER}@{server.target}", PASSWORD))
    made = {
        "dump": (GOLDEN / f"{kind}-table.sql").read_text("utf-8"),
        "tests": create_table(kind, TABLE),
    }[made_by]
    rows = (store / f"{kind}.sql").read_text("utf-8")
    with database.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(f"DROP TABLE IF EXISTS {TABLE}")
        for statement in [*made.split(";\n"), *rows.split(";\n")]:
            if statement.strip():
                cursor.execute(statement)
        connection.commit()
    read = SqlTable(database, SHAPE, "sequence_number", lambda _seconds: None).read()
    positions = {
        image.attributes["shard_id"]["S"]: image.attributes["sequence_number"]["S"]
        for image in read
    }
    assert sorted(image.key for image in read) == [image.key for image in images_of(store)]
    assert positions == rows_of(store) or store.name == "g6-latest-bootstrap"
