"""ListShards answers without boto3's parser, which takes most of the time of a long listing."""

from __future__ import annotations

import json
from typing import Any

from reshardctl.kinesis.scan import Scanner

COLUMNS = "Columns"
"""Where an answer holds a page as `Fields` instead of `Shards`."""


def keep_pages_raw(client: Any) -> None:  # noqa: ANN401 - a boto3 client has no type
    """Let `list_shards` of this client return COLUMNS, or `Shards` as they stand in the JSON.

    botocore goes on to resolve, sign, send and receive; only a good answer's body is taken from
    it before it is parsed. Errors stay with botocore.
    """
    client.meta.events.register("before-parse.kinesis.ListShards", _TakeOver())


class _TakeOver:
    """Of `before-parse`: what is in `customized_response_dict` becomes part of the answer."""

    def __init__(self) -> None:
        self._scanner = Scanner()

    def __call__(
        self,
        response_dict: dict[str, Any],
        customized_response_dict: dict[str, Any],
        **_: object,
    ) -> None:
        if response_dict["status_code"] != 200:
            return
        try:
            answer = self._answer(str(response_dict["body"], "utf-8"))
        except ValueError:
            return
        customized_response_dict.update(answer)
        response_dict["body"] = b"{}"

    def _answer(self, text: str) -> dict[str, Any]:
        """ValueError if it is no JSON object."""
        scanned = self._scanner.read(text)
        if scanned is not None:
            return {COLUMNS: scanned[0], "NextToken": scanned[1]}
        answer = json.loads(text)
        if not isinstance(answer, dict):
            raise ValueError("no object")
        page = answer.get("Shards")
        if isinstance(page, list):
            self._scanner.learn(text, page)
        return answer
