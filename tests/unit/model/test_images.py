"""Rows: counters that grow within Java's long, and keys that name the table of a row."""

from __future__ import annotations

import pytest

from reshardctl.model import Image, Update, Write, changed
from reshardctl.model.images import TableShape, check, counted


@pytest.mark.parametrize(("value", "is_counted"), [
    ({"N": "0"}, True), ({"N": "-1"}, True), ({"N": "7"}, True),
    ({"N": str(2**63 - 2)}, True), ({"N": str(2**63 - 1)}, False),
    ({"N": str(1 - 2**63)}, True), ({"N": str(-(2**63))}, False), ({"N": str(2**64)}, False),
    ({"N": "1.0"}, False), ({"N": "1E2"}, False), ({"N": ""}, False), ({"S": "7"}, False),
], ids=str)  # fmt: skip
def test_a_counter_is_a_whole_number_that_can_grow(value, is_counted):
    assert counted(value) is is_counted


@pytest.mark.parametrize("value", [{"S": "7"}, {"N": "seven"}], ids=str)
def test_a_counter_that_is_no_number_does_not_grow(value):
    # DynamoDB refuses ADD on it (ValidationException), so the row stays.
    row = Image("0", {"leaseCounter": value})
    assert changed(row, Write("0", Update({}, add={"leaseCounter": 1}), row, "why")) == row


def test_a_row_of_another_table_has_no_key_here():
    with pytest.raises(ValueError, match=r"^b/0: no row of table leases$"):
        TableShape("leases", prefix="a/").parts("b/0")


def test_a_store_without_a_table_is_refused():
    with pytest.raises(ValueError, match="at least one table"):
        check([])
