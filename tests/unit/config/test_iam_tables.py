"""`config iam` for consumers whose store is several tables."""

from __future__ import annotations

import pytest

from reshardctl.stores.dynamodb.client import ACTIONS
from tests.unit.config.test_iam_buckets import statements


@pytest.mark.parametrize("group", ["inspect", "probe", "fix"])
def test_kinsumer_needs_all_three_tables(group):
    """CreateRequiredTables of kinsumer: NAME_checkpoints, NAME_clients, NAME_metadata."""
    (table,) = statements("kinsumer://reader?release=twitch", group)
    where = "arn:aws:dynamodb:eu-west-1:123456789012:table/reader_"
    assert table["Resource"] == [where + name for name in ("checkpoints", "clients", "metadata")]
    assert tuple(table["Action"]) == ACTIONS["fix" if group == "fix" else "inspect"]
