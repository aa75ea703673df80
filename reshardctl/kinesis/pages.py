"""ListShards answers without boto3's parser, which takes most of the time of a long listing."""

from __future__ import annotations

import json
from typing import Any

from reshardctl.kinesis.scan import Scanner
from reshardctl.lineage import Fields, fields_of

COLUMNS = "Columns"
"""Where an answer holds its page as a list of `Fields`."""


def keep_pages_raw(client: Any) -> None:
    """Let `list_shards` of this client return COLUMNS instead of `Shards`.

    botocore goes on to resolve, sign, send and receive; only a good answer's body is taken from
    it before it is parsed. Errors stay with botocore. A page that makes no sense raises KeyError,
    TypeError or AttributeError.
    """
    reader = Reader()

    def take_over(
        response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
    ) -> None:
        if response_dict["status_code"] != 200:
            return
        try:
            answer = reader.answer(str(response_dict["body"], "utf-8"))
        except ValueError:
            return
        # What is in here becomes part of the answer; the parser finds nothing left to do.
        customized_response_dict.update(answer)
        response_dict["body"] = b"{}"

    client.meta.events.register(
        "before-parse.kinesis.ListShards", take_over, unique_id="reshardctl-columns"
    )


class Reader:
    """Turns bodies of answers into columns: by the scanner, else by way of JSON."""

    def __init__(self) -> None:
        self._scanner = Scanner()

    def answer(self, text: str) -> dict[str, Any]:
        """The answer with COLUMNS instead of `Shards`. ValueError if it is no JSON object."""
        scanned = self._scanner.read(text)
        if scanned is not None:
            return {COLUMNS: scanned[0], "NextToken": scanned[1]}
        answer = json.loads(text)
        if not isinstance(answer, dict):
            raise ValueError("no object")
        page = answer.get("Shards")
        if isinstance(page, list):
            self._scanner.learn(text, page)
            answer[COLUMNS] = list(fields_of(page))
        return answer

    def columns(self, text: str) -> list[Fields]:
        """The columns alone, of an answer that has them."""
        columns: list[Fields] = self.answer(text)[COLUMNS]
        return columns
