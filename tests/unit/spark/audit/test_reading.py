"""What of a read that ends early is a failure. Needs pyarrow, no Java."""

from __future__ import annotations

import pytest

from reshardctl.auditing.facts import FAILED
from reshardctl.errors import CannotTell
from reshardctl.kinesis.fast import Reach, ShardGone

pytest.importorskip("pyarrow", reason="needs pyarrow")


class Reader:
    """Answers with an error, as the service's."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def after(self, *_: object, **__: object) -> object:
        raise self.error


@pytest.mark.parametrize(("error", "said"), [
    (CannotTell("GetRecords: AccessDeniedException"), FAILED + "GetRecords: AccessDeniedException"),
    (ShardGone("retention has taken the shard"), "retention has taken the shard"),
])  # fmt: skip
def test_what_is_gone_is_no_failure_and_everything_else_is(error: Exception, said: str) -> None:
    from reshardctl.spark.audit.against import Stream, _shard

    row = {
        "at": 0, "shard": "shardId-0", "kind": "TRIM_HORIZON", "value": None, "until": None,
        "to_end": True,
    }  # fmt: skip
    (batch,) = _shard(Reader(error), Stream(Reach("us-east-1"), "orders"), row, False)  # type: ignore[arg-type]
    assert batch.column("short").to_pylist() == [said]
