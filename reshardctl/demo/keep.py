"""`demo --serve`: the servers alone, until they are stopped."""

from __future__ import annotations

import signal
from threading import Event
from types import FrameType

from reshardctl.demo.environment import exports
from reshardctl.demo.scene import STREAM, TABLE
from reshardctl.demo.servers import seeded

_TRY = f"""\
# The environment above points this shell's AWS clients at the demo. Then try, for instance:
#   reshardctl inspect kcl://{TABLE} --stream {STREAM}
#   reshardctl fix kcl://{TABLE} --stream {STREAM} --dry-run
#   reshardctl fix kcl://{TABLE} --stream {STREAM} --assume-stopped
#   aws kinesis list-shards --stream-name {STREAM}
#   aws dynamodb scan --table-name {TABLE}
# Everything is in memory. Ctrl-C ends it."""


def keep(now: float) -> None:
    """Serves until SIGINT or SIGTERM. Prints shell commands and comments. now: Unix seconds."""
    over = Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        over.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with seeded(now) as endpoints:
            for line in exports(endpoints):
                print(line)
            print(_TRY, flush=True)
            over.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
