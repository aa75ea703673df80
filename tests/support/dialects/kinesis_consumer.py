"""kinesis-consumer's rows: `[[rows]]` with `shard` and `number`, and `[[items]]` as they are.

number: a payload (`s0-3`: that record's number, of whichever shard), START or END (the shard's own
bounds), or a literal text. `typed`: as a DynamoDB number. `set`: raw DynamoDB JSON attributes, put
last; `omit`: attributes left out. `[[items]]`: raw items, of consumer groups or of other
applications. `stores`: those in which the rows look like this, `ddb` where none is named. The
application is `app`, the stream is the case's: APP-STREAM, the item of store/ddb/ddb.go, v0.5.0.

`[expect.fixed] writes`: START, a payload, a literal number, or "delete".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reshardctl.model import Delete, Image, Step, Update, canonical
from tests.support.case import Case
from tests.support.case_rows import Item, position
from tests.support.case_stream import only, shard_name

KEYS = frozenset({"rows", "items", "stores"})
START = "initial"
APP = "app"


def check(state: Mapping[str, Any], topology: Mapping[int, Any]) -> None:
    """Rows have a shard and a number; items have both keys."""
    for row in state.get("rows", ()):
        only(row, {"shard", "number", "set", "omit", "typed"}, "row")
        if row["number"] in ("START", "END"):
            position(row["number"], row["shard"], dict(topology))
    for item in state.get("items", ()):
        item["namespace"]["S"], item["shard_id"]["S"]


def items(case: Case) -> list[Item]:
    """Every stored item."""
    own = [_item(case, row) for row in case.state.get("rows", ())]
    return [*own, *case.state.get("items", ())]


def images(case: Case) -> list[Image]:
    """The same as a medium reads them."""
    return _sorted(items(case))


def repaired(case: Case, writes: Mapping[int, str]) -> list[Image]:
    """A position is put into the row that is there, or into one of three attributes."""
    table = {(i["namespace"]["S"], i["shard_id"]["S"]): i for i in items(case)}
    for shard, wanted in writes.items():
        key = (f"{APP}-{case.stream['name']}", shard_name(shard))
        if wanted == "delete":
            del table[key]
            continue
        number = {"S": position(wanted, shard, dict(case.topology))}
        fresh = {"namespace": {"S": key[0]}, "shard_id": {"S": key[1]}}
        table[key] = {**table.get(key, fresh), "sequence_number": number}
    return _sorted(table.values())


def spelled(case: Case, steps: Iterable[Step]) -> dict[int, str]:
    """What each row's number becomes, as cases say it."""
    return {
        int(write.key[-12:]): _spelled(case, int(write.key[-12:]), write.change)
        for step in steps for write in step.writes
    }


def _spelled(case: Case, shard: int, change: Any) -> str:
    if isinstance(change, Delete):
        return "delete"
    values = change.set if isinstance(change, Update) else change.attributes
    number = str(values["sequence_number"]["S"])
    if number == case.topology[shard].start:
        return "START"
    if number == case.topology[shard].end and case.topology[shard].closed:
        return "END"
    try:
        return case.payload_of(number)
    except KeyError:
        return number


def _item(case: Case, row: Mapping[str, Any]) -> Item:
    shard = row["shard"]
    text = row["number"]
    known = text in ("START", "END") or text.startswith("s")
    kind = "N" if row.get("typed") else "S"
    item: Item = {
        "namespace": {"S": f"{APP}-{case.stream['name']}"},
        "shard_id": {"S": shard_name(shard)},
        "sequence_number": {kind: position(text, shard, dict(case.topology)) if known else text},
        **row.get("set", {}),
    }
    return {name: value for name, value in item.items() if name not in row.get("omit", ())}


def _sorted(stored: Iterable[Item]) -> list[Image]:
    rows = [
        Image(f"{item['namespace']['S']}/{item['shard_id']['S']}", canonical(item))
        for item in stored
    ]
    return sorted(rows, key=lambda image: image.key)
