"""A case's stream, served over HTTP by the fake Kinesis."""

from __future__ import annotations

from types import TracebackType

from reshardctl.testing import load_topology, serve
from tests.case import Case


class ServedStream:
    """Serves one case's stream at ``address`` for the length of a ``with`` block.

    Each run has a ``fake`` of its own: its clock starts at the case's ``now``, and goes.
    """

    def __init__(self, case: Case) -> None:
        self._live = case.live
        self.name: str = case.stream["name"]
        self.fake = load_topology(case.stream, ticking=True)
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
        """Put the case's live records into their open shards."""
        for shard in self._live.shards:
            for index in range(self._live.n):
                self.fake.put(self.name, shard, f"n{shard}-{index}", f"k{shard}")
