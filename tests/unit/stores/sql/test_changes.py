"""Changes that no column of a position can take."""

from __future__ import annotations

import pytest

from reshardctl.model import Create, Image, TableShape, Update, Write
from reshardctl.model.images import Change
from reshardctl.stores.sql.changes import Changes
from reshardctl.stores.sql.postgres import Postgres
from reshardctl.stores.sql.server import Described, address_of

SHAPE = TableShape("places", hash="namespace", range="shard_id")
ROW = Image("app/s", {"namespace": {"S": "app"}, "shard_id": {"S": "s"}})


@pytest.mark.parametrize(("change", "words"), [
    (Update({}, (), {"sequence_number": 1}), "app/s: no column counts"),
    (Update({"sequence_number": {"N": "7"}}), "a column cannot hold N"),
    (Create({**ROW.attributes, "sequence_number": {"SS": ["7"]}}), "a column cannot hold SS"),
])  # fmt: skip
def test_what_is_no_text_is_no_statement(change: Change, words: str) -> None:
    server = Postgres(address_of("u@127.0.0.1/positions", "x"))
    changes = Changes(server, SHAPE, Described("postgres://127.0.0.1", "", ()))
    with pytest.raises(ValueError, match=words):
        list(changes.statements([Write("app/s", change, ROW, "a test")]))
