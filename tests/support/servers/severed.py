"""A way to a server that is cut at a chosen message, before or after the server saw it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Way:
    """Passes bytes on. cut: which message of the client ends every connection, counted over all
    of them; 0 for none. seen: whether the server gets that message first."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self.reset()
        threading.Thread(target=self._accept, daemon=True).start()

    def reset(self, cut: int = 0, *, seen: bool = False) -> None:
        self.count, self.cut, self.seen = 0, cut, seen

    def close(self) -> None:
        self._listener.close()
        self._sever()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Connections stay open, and nothing is answered: a paused pooler, a lost network."""
        with self._lock:
            yield

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                return
            self._open += [client, server]
            threading.Thread(target=self._forth, args=(client, server), daemon=True).start()
            threading.Thread(target=self._back, args=(server, client), daemon=True).start()

    def _forth(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while chunk := client.recv(1 << 16):
                with self._lock:
                    self.count += 1
                    over = self.count == self.cut
                if over and self.seen:
                    self._swallow(client, server, chunk)
                    return
                if over:
                    self._sever()
                    return
                server.sendall(chunk)
        self._shut(server)

    def _swallow(self, client: socket.socket, server: socket.socket, chunk: bytes) -> None:
        """The server does what it is told; its answer does not come back."""
        self._shut(client)
        with suppress(OSError):
            server.sendall(chunk)
            server.settimeout(2)
            server.recv(1 << 16)
        self._sever()

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while chunk := server.recv(1 << 16):
                client.sendall(chunk)
        self._shut(client)

    def _sever(self) -> None:
        for one in self._open:
            self._shut(one)
        self._open = []

    @staticmethod
    def _shut(one: socket.socket) -> None:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            one.close()


@contextmanager
def way_to(port: int) -> Iterator[Way]:
    way = Way(port)
    try:
        yield way
    finally:
        way.close()
