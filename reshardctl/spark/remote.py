"""The address of a Spark Connect server: how it is shown, and whether a server answers.

Without this check, PySpark's client retries a dead address for more than ten minutes.
"""

from __future__ import annotations

import os
import re
import socket
from urllib.parse import urlsplit

from reshardctl.errors import CannotTell, UsageError

PORT = 15002
"""The default port (Spark Connect's connection string)."""
PATIENCE = 10.0
"""Seconds to wait for a connection."""
_TOKEN = re.compile(r"(?i)(;\s*token=)[^;]*")
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")


def shown(remote: str) -> str:
    """The address without its token."""
    return _TOKEN.sub(r"\1***", remote)


def check(remote: str) -> tuple[str, int]:
    """Host and port; raises UsageError for an invalid address."""
    refused = UsageError(f"--remote {shown(remote)} is no address", "write it as sc://HOST:PORT")
    try:
        parts = urlsplit(remote)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        raise refused from None
    if host is None or parts.scheme != "sc":
        raise refused
    return host, port


def reach(remote: str) -> None:
    """Raises CannotTell if nothing answers; behind a proxy only the client itself can find out."""
    address = check(remote)
    if any(name in os.environ or name.upper() in os.environ for name in _PROXIES):
        return
    try:
        socket.create_connection(address, PATIENCE).close()
    except OSError as error:
        raise CannotTell(
            f"nothing answers at {shown(remote)}: {error.strerror or error}",
            f"is the Spark Connect server up? Its usual port is {PORT}",
        ) from None
