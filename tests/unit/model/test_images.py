"""Counters of rows: what Java's long holds, with room to count on."""

from __future__ import annotations

import pytest

from reshardctl.model.images import counted


@pytest.mark.parametrize(("value", "is_counted"), [
    ({"N": "0"}, True), ({"N": "-1"}, True), ({"N": "7"}, True),
    ({"N": str(2**63 - 2)}, True), ({"N": str(2**63 - 1)}, False),
    ({"N": str(1 - 2**63)}, True), ({"N": str(-(2**63))}, False), ({"N": str(2**64)}, False),
    ({"N": "1.0"}, False), ({"N": "1E2"}, False), ({"N": ""}, False), ({"S": "7"}, False),
], ids=str)  # fmt: skip
def test_a_counter_is_a_whole_number_that_can_grow(value, is_counted):
    assert counted(value) is is_counted
