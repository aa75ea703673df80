"""Rejects malformed answers of AWS before boto3 parses them.

boto3 takes a body that is no JSON for an empty answer: a row that was cut off in transit would
become an absent row. Such an answer counts as lost: a read is repeated, then given up, and a write
is looked for in its row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from botocore.parsers import ResponseParserError

NEEDED = {
    "AssumeRole": ("Credentials",),
    "BatchGetItem": ("Responses",),
    "DescribeTable": (
        "Table", "Table.AttributeDefinitions", "Table.KeySchema", "Table.TableArn",
    ),
    "GetRecords": ("Records",),
    "GetShardIterator": ("ShardIterator",),
    "ListObjectsV2": ("IsTruncated",),
    "ListTables": ("TableNames",),
    "Query": ("Items",),
    "Scan": ("Items",),
}
"""What no answer of these calls is without, though the service's model calls most of it optional.
What that model requires besides is left out by emulators, and nobody here reads it. What the
reader of the stream asks for, it looks at itself."""

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "structure": dict, "map": dict, "list": list, "string": str, "blob": str, "boolean": bool,
    "integer": int, "long": int, "double": (int, float), "float": (int, float),
    "timestamp": (int, float, str),
}  # fmt: skip


def refuse_malformed(client: Any) -> None:
    """Makes every call of this client raise ResponseParserError for a malformed answer.

    An answer that was read already, in place of boto3's parser, is not checked. A second call for
    the same client changes nothing.
    """

    def check(
        operation_model: Any, response_dict: dict[str, Any],
        customized_response_dict: Mapping[str, Any], **_: object,
    ) -> None:
        shape = operation_model.output_shape
        if response_dict["status_code"] >= 300 or shape is None or customized_response_dict:
            return
        if operation_model.has_streaming_output or operation_model.has_event_stream_output:
            return
        kind = str(response_dict["headers"].get("content-type", ""))
        if "cbor" in kind:
            return
        name, body = operation_model.name, response_dict["body"]
        if operation_model.metadata.get("protocol") == "json":
            _check_json(name, body, shape)
        elif body or name in NEEDED:
            _check_xml(name, body)

    client.meta.events.register_last("before-parse", check, unique_id="reshardctl-checked")


def _check_json(name: str, body: bytes, shape: Any) -> None:
    try:
        value = json.loads(body or b"{}")
    except ValueError:
        raise _malformed(name, "is cut short or no JSON") from None
    if not isinstance(value, dict):
        raise _malformed(name, "is no JSON object")
    _check(name, value, shape, "the answer")
    for path in NEEDED.get(name, ()):
        present: Any = value
        for member in path.split("."):
            present = present.get(member)
        if present is None:
            raise _malformed(name, f"has no {path}")


def _check(name: str, value: object, shape: Any, member_name: str) -> None:
    """Checks a value against the service's own model of it. null stands for an absent member."""
    if value is None:
        return
    kind = _KINDS.get(shape.type_name)
    if kind is not None and not isinstance(value, kind):
        raise _malformed(name, f"is not as it should be: {member_name} is no {shape.type_name}")
    if isinstance(value, list):
        for item in value:
            _check(name, item, shape.member, member_name)
    elif isinstance(value, dict) and shape.type_name == "map":
        for item in value.values():
            _check(name, item, shape.value, member_name)
    elif isinstance(value, dict):
        for member, item in value.items():
            if member in shape.members:
                _check(name, item, shape.members[member], member)


def _check_xml(name: str, body: bytes) -> None:
    try:
        root = ElementTree.fromstring(body)  # noqa: S314 - the service that holds the data itself
    except ElementTree.ParseError:
        raise _malformed(name, "is cut short or no XML") from None
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    for member in NEEDED.get(name, ()):
        if member not in tags:
            raise _malformed(name, f"has no {member}")


def _malformed(name: str, how: str) -> ResponseParserError:
    return ResponseParserError(f"the answer to {name} {how}")
