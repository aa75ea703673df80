"""Which source is chosen of a metastore's rows, and what is said where none is."""

from __future__ import annotations

import pytest

from reshardctl.consumers.quickwit.rows import parse
from reshardctl.errors import UsageError, WrongStream
from reshardctl.model import Image, Stream

STREAM = Stream(
    "arn:aws:kinesis:us-east-1:123456789012:stream/events", "events", 0, 86400, "ACTIVE"
)
AUDIT = Image("audit/kinesis-audit", {"stream": {"S": "audit"}})
BROKEN = Image("logs", {"unreadable": {"S": "/indexes/logs/metastore.json: malformed JSON"}})
ASKED = {
    "a source": (UsageError, None, {"source": "kinesis-events"}),
    "an index": (UsageError, None, {"index": "logs"}),
    "a stream": (WrongStream, STREAM, {}),
}


@pytest.mark.parametrize(("kind", "stream", "named"), ASKED.values(), ids=ASKED)
def test_an_unreadable_index_that_may_hold_the_source_is_told(kind, stream, named):
    with pytest.raises(kind) as raised:
        parse([AUDIT, BROKEN], stream, **named)
    assert BROKEN.attributes["unreadable"]["S"] in raised.value.what
    assert "mend it" in raised.value.next


@pytest.mark.parametrize(("kind", "stream", "named"), ASKED.values(), ids=ASKED)
def test_nothing_is_said_of_indexes_that_are_read(kind, stream, named):
    with pytest.raises(kind) as raised:
        parse([AUDIT], stream, **named)
    assert "unreadable" not in raised.value.what
    assert "mend it" not in raised.value.next


def test_an_unreadable_index_that_is_not_the_named_one_is_no_reason():
    with pytest.raises(UsageError) as raised:
        parse([AUDIT, BROKEN], None, index="other")
    assert "malformed" not in raised.value.what
