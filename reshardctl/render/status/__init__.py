"""A consumer's status, shard by shard: one file for each format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reshardctl.render.content import status as text
from reshardctl.render.context import Context
from reshardctl.render.formats import csv
from reshardctl.render.status import json, jsonl
from reshardctl.report.status import ConsumerStatus

WRITERS: Mapping[str, Callable[[ConsumerStatus, Context], str]] = {
    "text": text.write,
    "json": json.write,
    "jsonl": jsonl.write,
    "csv": csv.write,
}


def write(status: ConsumerStatus, form: str, context: Context) -> str:
    """The status in one of the formats of `WRITERS`, as whole lines to be printed as they are."""
    return WRITERS[form](status, context)


__all__ = ["WRITERS", "write"]
