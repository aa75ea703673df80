"""GetRecords answers as they came over the wire."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from reshardctl.kinesis.fast.columns import Columns, Row, scan


def keep_records_raw(client: Any) -> None:
    """Let `get_records` of this client return each record as the JSON of the wire has it.

    A record's `Data` is base64 text then, its `ApproximateArrivalTimestamp` Unix seconds as a
    float. Most pages come as `Columns` of such. Errors stay with botocore, and so does an answer
    that is no JSON.
    """

    def take_over(
        response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
    ) -> None:
        if response_dict["status_code"] != 200:
            return
        body: bytes = response_dict["body"]
        scanned = scan(body)
        try:
            answer = json.loads(body) if scanned is None else scanned[1]
        except ValueError:
            return
        if isinstance(answer, dict) and isinstance(answer.get("Records"), list):
            # What is in here becomes part of the answer; the parser finds nothing left to do.
            if scanned is not None:
                answer["Records"] = scanned[0]
            customized_response_dict.update(answer)
            response_dict["body"] = b"{}"

    client.meta.events.register(
        "before-parse.kinesis.GetRecords", take_over, unique_id="reshardctl-records"
    )


def raw(records: Sequence[Row]) -> Sequence[Row]:
    """The same of records that botocore has parsed: of answers in another format than JSON."""
    if isinstance(records, Columns) or not records or isinstance(records[0]["Data"], str):
        return records
    return [_raw(record) for record in records]


def _raw(record: Row) -> Row:
    arrived = record.get("ApproximateArrivalTimestamp")
    seconds = None if arrived is None else arrived.timestamp()
    data = b64encode(record["Data"]).decode()
    return {**record, "Data": data, "ApproximateArrivalTimestamp": seconds}
