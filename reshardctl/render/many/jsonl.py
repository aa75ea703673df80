"""For log stores: the lines of every consumer, each with its `name`; one line for all at the end.

A suppressed finding is a line of type `suppressed`, a consumer that could not be judged one of
type `error`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from reshardctl.render import jsonl
from reshardctl.render.context import Context
from reshardctl.render.many.documents import Document, named, roundup_document, suppressed
from reshardctl.render.many.roundup import Entry, Roundup


def roundup(shown: Roundup, context: Context) -> str:
    """Header, findings, writes and summary of each; `roundup` last."""
    lines = [line for entry in shown.entries for line in _entry(entry, context)]
    whole = roundup_document(shown)
    del whole["consumers"]
    lines.append({"schema": jsonl.SCHEMA, "type": "roundup", **whole})
    return "".join(
        json.dumps(line, allow_nan=False, ensure_ascii=True, separators=(",", ":")) + "\n"
        for line in lines
    )


def _entry(entry: Entry, context: Context) -> Iterator[Document]:
    own = replace(context, again=entry.again, exit=entry.exit)
    text = ""
    if entry.failure is not None:
        text = jsonl.error(entry.failure, own)
    elif entry.report is not None:
        text = jsonl.inspect(entry.report, own)
    for line in text.splitlines():
        yield {**json.loads(line), **named(entry)}
    for one in suppressed(entry):
        yield {"schema": jsonl.SCHEMA, "type": "suppressed", **one, **named(entry)}
