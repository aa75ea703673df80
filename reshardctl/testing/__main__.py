"""`python -m reshardctl.testing --topology FILE`: serve a fake Kinesis until SIGTERM."""

from __future__ import annotations

import argparse
import signal
import sys
from threading import Event
from types import FrameType

from reshardctl.testing.fake import FakeKinesis
from reshardctl.testing.http import serve
from reshardctl.testing.topology import load_topology


def main(arguments: list[str] | None = None) -> int:
    """Print the URL, serve, and end with 0 on SIGTERM or Ctrl-C; 2 for a bad topology."""
    options = _parser().parse_args(arguments)
    try:
        fake = _fake(options.topology, options.tick)
    except (OSError, ValueError, KeyError, TypeError) as broken:
        print(f"cannot read the topology {options.topology}: {broken!r}", file=sys.stderr)
        return 2
    over = Event()

    def stop(_signum: int, _frame: FrameType | None) -> None:
        over.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        server = serve(fake, options.port)
    except (OSError, OverflowError) as taken:
        print(f"cannot serve on 127.0.0.1:{options.port}: {taken}", file=sys.stderr)
        return 2
    with server:
        print(server.url, flush=True)
        over.wait()
    return 0


def _fake(topology: str | None, ticking: bool) -> FakeKinesis:
    if topology is None:
        return FakeKinesis(ticking=ticking)
    return load_topology(topology, ticking=ticking)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reshardctl.testing",
        description="Serve a fake Kinesis (AWS JSON 1.1) on 127.0.0.1 until SIGTERM.",
        epilog="The first line of output is the URL. Any credentials do.",
    )
    parser.add_argument("--topology", metavar="FILE", help="streams to start with (.toml, .json)")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--tick", action="store_true", help="let the clock run with real time")
    return parser


if __name__ == "__main__":
    sys.exit(main())
