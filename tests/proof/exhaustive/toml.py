"""A scene as a case file, so that what failed once can be kept: copy it to tests/cases/kcl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.proof.exhaustive.trials import Trial


def case_file(trial: Trial) -> str:
    """A self-contained case: the deliveries are the reference consumer's."""
    delivers = {
        str(int(shard.removeprefix("shardId-"))): list(payloads)
        for shard, payloads in sorted(trial.before.delivered.items())
    }
    table = trial.scene.table(delivers)
    stream, rows, (expect,) = table.pop("stream"), table.pop("rows"), table.pop("expect")
    shards, live = stream.pop("shards"), table.pop("live")
    if trial.before.died:
        expect["dies"] = True
    return "\n".join([
        *_lines(table), "", "[stream]", *_lines(stream),
        *(line for shard in shards for line in ("", "[[stream.shards]]", *_lines(shard))),
        *(line for row in rows for line in ("", "[[rows]]", *_lines(row))),
        "", "[live]", *_lines(live), "", "[[expect]]", *_lines(expect), "",
    ])


def _lines(table: dict[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        yield f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, dict) and value:
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)  # an empty table is written alike


def _key(key: str) -> str:
    return key if key.isidentifier() else json.dumps(key)
