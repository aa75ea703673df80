"""Lets a client that insists on TLS reach a plain HTTP server on this machine.

The receiver of Spark Streaming takes no endpoint for DynamoDB. Its SDK (1.11) can be given another
list of regions, but goes to every host of such a list by https.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import cast
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HOST = "127.0.0.1"


@contextmanager
def over_tls(url: str, folder: Path) -> Iterator[str]:
    """`127.0.0.1:PORT` that speaks TLS, with a certificate of its own, and is ``url`` behind it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(folder / "certificate.pem"))
    with _Door((HOST, 0), _Exchange) as door:
        door.target = urlsplit(url).netloc
        # The handshake waits for the client: on the thread of its connection, not on the door's.
        door.socket = context.wrap_socket(
            door.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = Thread(target=door.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"{HOST}:{door.server_address[1]}"
        door.shutdown()
        thread.join()


class _Door(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    target: str


class _Exchange(BaseHTTPRequestHandler):
    """One request at a time a connection, passed on as it is."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        behind = HTTPConnection(cast(_Door, self.server).target)
        try:
            behind.request("POST", self.path, body, dict(self.headers.items()))
            answer = behind.getresponse()
            content = answer.read()
        finally:
            behind.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "content-length", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: every renewal of a lease is a request."""


def _certificate(path: Path) -> Path:
    """A key and a certificate that it signs itself, for a day."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path
