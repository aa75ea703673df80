"""A case's stream, and those beside it, served over HTTP by the fake Kinesis."""

from __future__ import annotations

from collections import Counter
from types import TracebackType

from reshardctl.testing import load_topology, serve
from reshardctl.testing.service import Position, Settings
from tests.support.case import Case


class ServedStream:
    """Serves the streams of a case and its neighbours at ``address``, inside a ``with`` block.

    Each run has a ``fake`` of its own: its clock starts at the case's ``now``, and goes.
    """

    def __init__(self, case: Case, *beside: Case, settings: Settings | None = None) -> None:
        self._cases = (case, *beside)
        self.name: str = case.stream["name"]
        streams = [each.stream for each in self._cases]
        self.fake = load_topology(streams, settings=settings, ticking=True)
        self._server = serve(self.fake)
        self.address = self._server.url

    def __enter__(self) -> ServedStream:
        self._server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.__exit__(kind, error, trace)

    def put_live(self) -> None:
        """Put the cases' live records into their open shards."""
        for case in self._cases:
            for shard in case.live.shards:
                for index in range(case.live.n):
                    payload = f"n{shard}-{index}"
                    self.fake.put(case.stream["name"], shard, payload, f"k{shard}")

    def reads(self, since: int = 0) -> Counter[tuple[str, int]]:
        """How often GetRecords was called for each open shard, by stream and number of the shard.

        Without the first ``since`` calls of the stream's whole log.
        """
        iterators = [
            Position.opened(call.params["ShardIterator"])
            for call in self.fake.calls[since:]
            if call.action == "GetRecords"
        ]
        live = {(case.stream["name"], shard) for case in self._cases for shard in case.live.shards}
        read = Counter((iterator.name, iterator.shard) for iterator in iterators)
        return Counter({shard: n for shard, n in read.items() if shard in live})
