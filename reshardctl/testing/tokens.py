"""NextTokens and shard iterators: opaque to clients, self-contained, protected against edits."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

_SEAL = 8


class TokenError(ValueError):
    """The text is no token of this kind."""


def seal(kind: str, fields: dict[str, Any]) -> str:
    """An opaque text that `unseal` of the same kind turns back into `fields`."""
    body = json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()
    return base64.b64encode(_sum(kind, body) + body).decode()


def unseal(kind: str, text: str) -> dict[str, Any]:
    """The fields of a token; raises TokenError for a token of another kind."""
    try:
        raw = base64.b64decode(text.encode(), validate=True)
    except (binascii.Error, UnicodeEncodeError) as broken:
        raise TokenError(text) from broken
    body = raw[_SEAL:]
    if raw[:_SEAL] != _sum(kind, body):
        raise TokenError(text)
    fields: dict[str, Any] = json.loads(body)
    return fields


def _sum(kind: str, body: bytes) -> bytes:
    return hashlib.sha256(kind.encode() + b"\0" + body).digest()[:_SEAL]
