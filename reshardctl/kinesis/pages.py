"""ListShards answers without boto3's parser, which takes most of the time of a long listing."""

from __future__ import annotations

import json
from typing import Any


def keep_pages_raw(client: Any) -> None:  # noqa: ANN401 - a boto3 client has no type
    """Let `list_shards` of this client return `Shards` as they stand in the JSON.

    botocore goes on to resolve, sign, send and read; only a good answer's body is taken from it
    before it is parsed. Errors stay with botocore.
    """
    client.meta.events.register("before-parse.kinesis.ListShards", _take_over)


def _take_over(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    if response_dict["status_code"] != 200:
        return
    try:
        answer = json.loads(response_dict["body"])
    except ValueError:
        return
    if isinstance(answer, dict):
        customized_response_dict.update(answer)
        response_dict["body"] = b"{}"
