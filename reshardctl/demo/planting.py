"""Writes the lease table to the DynamoDB server.

By plain HTTP: boto3 would read the operator's own profiles and proxies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

_TARGET = "DynamoDB_20120810."
_JSON = "application/x-amz-json-1.0"
_SECONDS = 30


def plant(
    url: str, region: str, table: Mapping[str, Any], items: Iterable[Mapping[str, Any]]
) -> None:
    """Creates `table` (as CreateTable takes it) and puts `items` (DynamoDB JSON) into it."""
    _call(url, region, "CreateTable", table)
    for item in items:
        _call(url, region, "PutItem", {"TableName": table["TableName"], "Item": item})


def remove(url: str, region: str, table: str) -> None:
    """Deletes the demo's table: moto keeps it for as long as the process lives."""
    _call(url, region, "DeleteTable", {"TableName": table})


def _call(url: str, region: str, action: str, body: Mapping[str, Any]) -> None:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=_SECONDS)
    # The server takes the region from the signature's scope and checks nothing of the rest.
    scope = f"Credential=demo/20260101/{region}/dynamodb/aws4_request"
    headers = {
        "Content-Type": _JSON,
        "X-Amz-Target": _TARGET + action,
        "Authorization": f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=demo",
    }
    try:
        connection.request("POST", "/", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
    finally:
        connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{action} on the demo's DynamoDB: {answer.status} {text}")
