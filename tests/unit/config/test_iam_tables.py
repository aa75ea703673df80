"""`config iam` for consumers whose store is several tables."""

from __future__ import annotations

import pytest

from reshardctl.config.iam import ENVIRONMENT, policies
from reshardctl.stores.dynamodb.client import ACTIONS
from tests.unit.config.test_iam_buckets import entry_of, statements
from tests.whole.test_iam import policies as documented


def test_a_look_at_tables_needs_all_of_them_and_no_stream():
    """The statement is the first one: `statements` leaves that of the stream out."""
    assert statements("kinsumer://reader", "tables") == []
    found = policies([entry_of("kcl://orders-reader?release=3.1")], "tables", "123456789012")
    assert found[ENVIRONMENT]["Statement"] == documented()["tables"]["Statement"]
    assert policies([entry_of("spark:/x")], "tables", "123456789012") == {}


@pytest.mark.parametrize("group", ["inspect", "probe", "fix"])
def test_kinsumer_needs_all_three_tables(group):
    """CreateRequiredTables of kinsumer: NAME_checkpoints, NAME_clients, NAME_metadata."""
    (table,) = statements("kinsumer://reader?release=twitch", group)
    where = "arn:aws:dynamodb:eu-west-1:123456789012:table/reader_"
    assert table["Resource"] == [where + name for name in ("checkpoints", "clients", "metadata")]
    assert tuple(table["Action"]) == ACTIONS["fix" if group == "fix" else "inspect"]
