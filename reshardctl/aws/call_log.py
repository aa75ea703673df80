"""`--debug FILE`: a line of JSON for each call to AWS, without parameters that could be secret.

A line has the time and the seconds of the call, service and operation, the stream, table or bucket,
the attempt, the HTTP status, AWS's request id, and the error code. It has no headers, no rows, no
records and no message of an error: SignatureDoesNotMatch repeats the session token in its message.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from reshardctl.errors import UsageError
from reshardctl.given_secrets import masked

NAMES = (
    "StreamARN", "StreamName", "TableName", "Bucket", "Prefix", "Key", "ShardId", "RoleArn",
)
"""Parameters that name what a call is about."""
_CALL, _BEGUN = "reshardctl-call", "reshardctl-begun"


class CallLog:
    """Appends to an open file; safe to use from several threads.

    A file that can no longer be written ends the log, never the command.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._failures: Counter[str] = Counter()

    def write(self, context: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Add a line. context: botocore's, of a call; answer: what came back."""
        call, (at, began) = context[_CALL], context[_BEGUN]
        key = json.dumps(call)
        seconds = round(time.monotonic() - began, 3)
        with self._lock:
            attempt = self._failures[key] + 1
            self._failures[key] = attempt if answer.get("error") else 0
        self.append(at, {**call, "attempt": attempt, "seconds": seconds, **answer})

    def append(self, at: float, members: Mapping[str, Any]) -> None:
        """Add a line of these members, without those that say nothing. at: Unix seconds."""
        when = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
        line = {"time": when, **members}
        known = {name: value for name, value in line.items() if value not in (None, {})}
        with self._lock, suppress(OSError):  # such as a full disk
            self._file.write(json.dumps(known) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with self._lock, suppress(OSError):
            self._file.close()


_log: CallLog | None = None


def begin(path: Path | None) -> None:
    """Log the calls of every client that is made from now on; of none without a path.

    Raises:
        UsageError: The file cannot be opened.
    """
    global _log
    if _log is not None:
        _log.close()
        _log = None
    if path is None:
        return
    try:
        _log = CallLog(path.open("w", encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"--debug {path}: {error.strerror}", "name a file that can be written"
        ) from None


def warned(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object
) -> None:
    """Log a warning of a library, if a log was asked for; an operator is not told it."""
    if _log is not None:
        said = " ".join(masked(str(message)).split())
        _log.append(time.time(), {
            "warning": category.__name__, "where": f"{filename}:{lineno}", "message": said,
        })


def follow(client: Any) -> None:
    """Log the calls of this client of boto3, if a log was asked for."""
    if _log is None:
        return
    service = client.meta.service_model.service_id.hyphenize()
    for event, handler in (
        ("provide-client-params", _named), ("before-call", _begun),
        ("after-call", _answered), ("after-call-error", _failed),
    ):
        client.meta.events.register(
            f"{event}.{service}", handler, unique_id=f"reshardctl-{event}-{service}"
        )


def _named(params: Mapping[str, Any], model: Any, context: dict[str, Any], **_: object) -> None:
    context[_CALL] = {
        "service": model.service_model.service_name, "operation": model.name,
        "about": _about(params),
    }


def _begun(params: Mapping[str, Any], context: dict[str, Any], **_: object) -> None:
    url = urlsplit(params["url"])
    context[_CALL]["endpoint"] = f"{url.scheme}://{url.netloc}"
    context[_BEGUN] = time.time(), time.monotonic()


def _answered(parsed: Mapping[str, Any], context: dict[str, Any], **_: object) -> None:
    meta = parsed.get("ResponseMetadata", {})
    _write(context, {
        "status": meta.get("HTTPStatusCode"), "request_id": meta.get("RequestId"),
        "error": parsed.get("Error", {}).get("Code"),
    })


def _failed(exception: Exception, context: dict[str, Any], **_: object) -> None:
    _write(context, {"error": type(exception).__name__})


def _write(context: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    if _log is not None:
        _log.write(context, answer)


def _about(params: Mapping[str, Any]) -> dict[str, Any]:
    about: dict[str, Any] = {
        name: params[name] for name in NAMES if isinstance(params.get(name), str)
    }
    if isinstance(items := params.get("RequestItems"), dict):
        about["TableNames"] = sorted(items)
    return about
