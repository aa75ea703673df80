"""A way to a server on which requests and answers meet faults, drawn from dice."""

from __future__ import annotations

import socket
import struct
import time
from collections import Counter
from contextlib import suppress
from random import Random

from tests.support.servers.severed import Way

FAULTS = ("reset", "answer lost", "half an answer", "delay")
"""The server never sees the request; it acts, and its answer does not come; or half of it does."""
DELAY_SECONDS = 0.02, 0.8
DRAINED_SECONDS = 10.0
_RESET = struct.pack("ii", 1, 0)


class Door(Way):
    """Passes bytes on; while `rate` is above 0, each request meets a fault with that chance."""

    def __init__(self, port: int, dice: Random) -> None:
        self.rate = 0.0
        self.met: Counter[str] = Counter()
        self._dice = dice
        self._owed: dict[socket.socket, str] = {}
        self._under_way = 0
        super().__init__(port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def calm(self) -> None:
        """No more faults, and nothing that a client who is gone sent is still on its way."""
        self.rate = 0.0
        ends = time.monotonic() + DRAINED_SECONDS
        while self._under_way and time.monotonic() < ends:
            time.sleep(0.01)

    def _forth(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while chunk := client.recv(1 << 16):
                with self._lock:
                    self._under_way += 1
                try:
                    if not self._passes(client, server, chunk):
                        break
                finally:
                    with self._lock:
                        self._under_way -= 1
        self._shut(server)

    def _passes(self, client: socket.socket, server: socket.socket, chunk: bytes) -> bool:
        fault = self._drawn()
        if fault == "reset":
            self._abort(client)
            return False
        if fault == "delay":
            time.sleep(self._dice.uniform(*DELAY_SECONDS))
        elif fault:
            self._owed[server] = fault
        server.sendall(chunk)
        return True

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while chunk := server.recv(1 << 16):
                fault = self._owed.pop(server, None)
                if fault == "half an answer":
                    client.sendall(chunk[: len(chunk) // 2])
                if fault:
                    self._abort(client)
                    break
                client.sendall(chunk)
        self._shut(client)

    def _drawn(self) -> str:
        with self._lock:
            if self._dice.random() >= self.rate:
                return ""
            fault = self._dice.choice(FAULTS)
            self.met[fault] += 1
            return fault

    @staticmethod
    def _abort(client: socket.socket) -> None:
        """Ends a connection by a reset. The thread that may wait for its next request is woken
        first: the system would keep the connection for it."""
        with suppress(OSError):
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            client.shutdown(socket.SHUT_RD)
            client.close()


def doors(dice: Random, kinesis: str, store: str) -> list[Door]:
    """The tool's to Kinesis and to the store, then the consumer's."""
    return [
        Door(int(url.rpartition(":")[2]), Random(dice.random()))
        for url in (kinesis, store, kinesis, store)
    ]


def variables(doors: list[Door]) -> dict[str, str]:
    """The tool's environment."""
    kinesis, store, *_ = doors
    return {"AWS_ENDPOINT_URL_KINESIS": kinesis.url, "AWS_ENDPOINT_URL_DYNAMODB": store.url}
