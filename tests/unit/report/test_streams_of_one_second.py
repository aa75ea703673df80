"""Two streams of one second: a number of a later shard of the other one shows whose the rows are.

Numbers of the first shards of both look the same, for they carry the second of the creation (seven
of seven public samples); a reshard begins an epoch of its own. Asked of every library.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.locator import parse
from reshardctl.consumers.registry import consumer_of
from reshardctl.consumers.sequence_numbers import born_later
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.errors import WrongStream
from reshardctl.lineage import Lineage
from reshardctl.model import decode
from reshardctl.report.report import RepairOptions, make
from tests.support.case import CASES, load
from tests.support.dialects import dialect_of
from tests.support.judging import lineage_of

OTHER = "arn:aws:kinesis:us-east-1:123456789012:stream/other"
ROWS = {
    "kcl/a-one": "kcl://app?initial=TRIM_HORIZON&release=3.5.1",
    "kinsumer/b4": "kinsumer://app?release=twitch",
    "kinesis-consumer/b4": "kinesis-consumer+ddb://table?app=app&release=0.5.0",
    "quickwit/split-healthy": "quickwit+file:///root",
    "spark/half-read-awslabs-2": "spark:/c",
}
"""Case → the locator that reads its rows: they hold numbers of first and of later shards."""


@pytest.mark.parametrize("name", ROWS)
def test_the_rows_are_of_the_other_stream(name):
    """This stream has the same first shards, and was never resharded."""
    case = load(CASES / f"{name}.toml")
    whole = lineage_of(case.shards, case.stream["created"])
    roots = [replace(whole[shard], end=None) for shard in whole if not whole[shard].parents]
    rows = tuple(dialect_of(case.consumer).images(case))
    theirs = Snapshot(parse(ROWS[name]), whole, rows, {}, float(case.now))
    make(theirs, RepairOptions())
    consumer = consumer_of(theirs.locator)
    texts = consumer.texts(consumer.parse(rows, whole.stream))
    later = {shard: text for shard, text in texts.items() if born_later(theirs.lineage, text)}
    assert 0 < len(later) < sum(decode(text) is not None for text in texts.values())
    born = {decode(text).epoch: (OTHER,) for text in later.values()}  # type: ignore[union-attr]
    ours = replace(theirs, lineage=Lineage(whole.stream, roots), born=born)
    make(ours, RepairOptions())
    with pytest.raises(WrongStream, match="stream other, which was created in the same second"):
        make(replace(ours, alike=(OTHER,)), RepairOptions())
