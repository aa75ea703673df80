"""A lab whose store is a node of Quickwit, asked through its REST interface.

The node is ours; what it answers with is what the real metastores of 0.8.2 and 0.9.0 stored of the
index (tests/golden/quickwit): that interface gives the same metadata.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.lab import Lab, Servers, Wire, opened
from tests.cli.quickwit_lab import GOLDEN, golden_fake

Answer = tuple[int, dict[str, str], bytes]
"""Status, headers, body; status 0 for bytes that are sent as they are."""


@dataclass
class Node:
    """answer: path → status, headers, body."""

    port: int = 0
    paths: list[str] = field(default_factory=list)
    answer: Callable[[str], Answer] = lambda _path: (404, {}, b"")


@contextmanager
def node() -> Iterator[Node]:
    ours = Node()

    class Exchange(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            ours.paths.append(self.path)
            status, headers, body = ours.answer(self.path)
            if not status:
                self.wfile.write(body)
                return
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, template: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    ours.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield ours
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class RestLab(Lab):
    """See `Lab`; the metastore is behind `node`."""

    node: Node = field(default_factory=Node)

    @property
    def locator(self) -> str:
        return f"quickwit+http://127.0.0.1:{self.node.port}{self.options}"


def metadata(release: str, state: str, index: str = "events") -> bytes:
    """What the metastore holds of an index, as the interface prints it."""
    file = GOLDEN / release / state / "metastore" / index / "metastore.json"
    return json.dumps(json.loads(file.read_text())["index"], ensure_ascii=False, indent=2).encode()


@contextmanager
def rest_lab(
    release: str, state: str, options: str, servers: Servers, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, wire: Wire,
) -> Iterator[RestLab]:
    """A lab whose node knows the indexes of a recorded metastore."""

    def answer(path: str) -> Answer:
        index = path.removeprefix("/api/v1/indexes/")
        if not (GOLDEN / release / state / "metastore" / index).is_dir():
            return 404, {}, b'{"message": "index not found"}'
        return 200, {}, metadata(release, state, index)

    fake = golden_fake(state)
    with (
        opened(servers, fake, [], tmp_path / "state", monkeypatch, wire) as made,
        node() as ours,
    ):
        ours.answer = answer
        yield made.beside(RestLab, stream="events", options=options, node=ours)
