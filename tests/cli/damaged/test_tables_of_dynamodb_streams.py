"""A damaged table of the DynamoDB Streams Kinesis Adapter is no lease table of a stream."""

from __future__ import annotations

from random import Random

import pytest

from tests.cli.damaged.media_rows import put
from tests.cli.damaged.row_damages import damaged_rows


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_table_of_a_dynamodb_stream_is_refused_all_the_same(lab, seed):
    """The adapter's own keys, as `keys.no_lease_table` tells them; nothing else is looked at."""
    rows = {
        f"shardId-0000000141457657362{number}-f55eea83": {**row, "leaseKey": {
            "S": f"shardId-0000000141457657362{number}-f55eea83",
        }}
        for number, row in enumerate(lab.items().values())
    }  # fmt: skip
    lab.empty()
    _, _, after = damaged_rows(Random(f"streams {seed}"), rows, frozenset({"leaseKey"}))
    for key, row in after.items():
        put(lab, key, row)
    for verb, *more in (["inspect"], ["status"], ["export"], ["fix", "-n"], ["explain", "0"]):
        ended = lab.cli(verb, *lab.where, *more)
        assert ended.code == 2, ended.err
        assert ended.says("DynamoDB Streams Kinesis Adapter", "kcl://TABLE")
    assert lab.wire.writes == []
