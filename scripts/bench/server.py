"""`python -m scripts.bench.server PAGES OPEN`: a Kinesis that does nothing but answer with pages.

Prints its port. It ends with its standard input.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ARN = "arn:aws:kinesis:us-east-1:123456789012:stream/bench"


def summary(opened: int) -> dict[str, Any]:
    """DescribeStreamSummary's answer."""
    return {
        "StreamDescriptionSummary": {
            "StreamName": "bench", "StreamARN": ARN, "StreamStatus": "ACTIVE",
            "RetentionPeriodHours": 24, "StreamCreationTimestamp": 1_700_000_000.0,
            "OpenShardCount": opened,
        }
    }  # fmt: skip


def pages_of(path: Path) -> list[bytes]:
    """The answers, each with the number of the next one as its NextToken."""
    lines = path.read_bytes().splitlines()
    answers = []
    for at, line in enumerate(lines, 1):
        array = line[: line.rindex(b"]") + 1]
        more = b',"NextToken":"%d"' % at if at < len(lines) else b""
        answers.append(array + more + b"}")
    return answers


class Exchange(BaseHTTPRequestHandler):
    """Answers two actions."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 20
    pages: list[bytes]
    about: bytes

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        listing = self.headers["X-Amz-Target"].endswith(".ListShards")
        body = self.pages[int(asked.get("NextToken", 0))] if listing else self.about
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, template: str, *args: object) -> None:
        """Quiet."""


if __name__ == "__main__":
    Exchange.pages = pages_of(Path(sys.argv[1]))
    Exchange.about = json.dumps(summary(int(sys.argv[2]))).encode()
    http = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    print(http.server_address[1], flush=True)
    sys.stdin.read()
