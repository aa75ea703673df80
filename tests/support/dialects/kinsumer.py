"""kinsumer's three tables: `[[rows]]` are checkpoints, `[store]` the cache, leader and clients.

A row: ``shard``; ``at`` NULL, EMPTY, ABSENT (the spellings of never read), LATEST, START, END, a
payload or a literal number; ``finished``; ``aside``: finished by a bootstrap's hand, not by the
library; ``owner``; ``age``: seconds since LastUpdate; ``omit``, ``set``: raw attributes, last.
``[store]``: ``cache`` the cached shards (no ShardCache row without it); ``leader``, ``clients``:
ids of what runs or was killed; ``raw``: raw attributes over the ShardCache's; ``strange``: raw
attributes of checkpoints whose Shard is no shard's, by that.

In ``[expect.fixed] writes`` a position is TRIM_HORIZON (NULL), START, LATEST, FINISHED, UNFINISHED
(the number stays), a payload, a literal number, ``delete`` or ``same`` (other attributes); the
ShardCache is ``"-1"``, its shards joined by blanks.

Shapes: scans of tables that twitchscience/kinsumer 9a48088 and snowplow-devops/kinsumer v1.7.0
wrote (tests/golden/kinsumer-*), and rows written by hand and taken by both (runs, Nov 2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

from reshardctl.model import Create, Delete, Image, Step, canonical
from tests.support.case import Case
from tests.support.case_stream import CaseShard, only, shard_name

STAMPS = frozenset({"LastUpdate", "LastUpdateRFC", "Finished", "FinishedRFC"})
"""Of rows that nobody owns: the library decides by none of them but whether Finished is there
(capture in checkpoints.go)."""
KEYS: frozenset[str] = frozenset({"rows", "store"})
START = "initial"

ROW_KEYS = {"shard", "at", "finished", "aside", "owner", "age", "omit", "set"}
STORE_KEYS = {"cache", "leader", "clients", "raw", "strange"}
NULL = {"NULL": True}
AGE = 3600
CACHE = -1

Item = dict[str, Any]


def check(state: Mapping[str, Any], topology: Mapping[int, CaseShard]) -> None:
    """KeyError or ValueError for tables that are wrong."""
    only(state.get("store", {}), STORE_KEYS, "store")
    for row in state.get("rows", []):
        only(row, ROW_KEYS, f"row of shard {row.get('shard')}")
        _place(row["at"], row["shard"], topology)


def images(case: Case) -> list[Image]:
    """What is stored, in key order."""
    rows = [_row(case, row) for row in case.state.get("rows", [])]
    return _sorted([*rows, *_others(case)])


def tables(stored: Iterable[Image]) -> dict[str, list[Item]]:
    """Images as items, by table."""
    found: dict[str, list[Item]] = {"checkpoints": [], "clients": [], "metadata": []}
    for image in stored:
        found[image.key.partition("/")[0]].append({n: dict(v) for n, v in image.attributes.items()})
    return found


def repaired(case: Case, writes: Mapping[int, str]) -> list[Image]:
    """After the writes, made as an operator would with the AWS command line."""
    rows = {image.key: dict(image.attributes) for image in images(case)}
    for shard, wanted in writes.items():
        key = "metadata/ShardCache" if shard == CACHE else f"checkpoints/{shard_name(shard)}"
        if wanted == "delete":
            del rows[key]
        elif shard == CACHE:
            base = rows.get(key) or _cache(case, [])
            rows[key] = {**base, "ShardIDs": _ids(map(int, wanted.split()))}
        else:
            rows[key] = _moved(case, rows.get(key), shard, wanted)
    return _sorted([Image(key, canonical(item)) for key, item in rows.items()])


def spelled(case: Case, steps: Iterable[Step]) -> dict[int, str]:
    """What steps write, in the words of `[expect.fixed] writes`."""
    found = {}
    for write in (w for step in steps for w in step.writes):
        table, _, name = write.key.partition("/")
        if table == "metadata":
            values = _values(write)
            found[CACHE] = " ".join(str(int(s["S"][-12:])) for s in values["ShardIDs"]["L"])
        else:
            found[int(name[-12:])] = _word(case, int(name[-12:]), write)
    return found


def _word(case: Case, shard: int, write: Any) -> str:
    if isinstance(write.change, Delete):
        return "delete"
    values = _values(write)
    if "N" in values.get("Finished", NULL):
        return "FINISHED"
    if "SequenceNumber" not in values:
        return "UNFINISHED" if "Finished" in values else "same"
    number = values["SequenceNumber"].get("S")
    if number is None:
        return "TRIM_HORIZON"
    known = {n: p for held in case.records.values() for n, p, _ in held}
    return "START" if number == case.topology[shard].start else known.get(number, number)


def _values(write: Any) -> Mapping[str, Any]:
    made = isinstance(write.change, Create)
    return write.change.attributes if made else write.change.set  # type: ignore[no-any-return]


def _row(case: Case, row: Mapping[str, Any]) -> Image:
    shard, updated = row["shard"], case.now - row.get("age", AGE)
    done = row.get("finished", False)
    aside = row.get("aside", False)
    item: Item = {
        "Shard": {"S": shard_name(shard)},
        "SequenceNumber": _place(row["at"], shard, case.topology),
        "LastUpdate": {"N": _nanos(updated)},
        "LastUpdateRFC": {"S": _rfc(updated)},
        "Finished": {"N": _nanos(updated - (0 if aside else 1))} if done else NULL,
        "FinishedRFC": {"S": _rfc(updated)} if done else NULL,
    }
    if row["at"] == "ABSENT":
        del item["SequenceNumber"]
    if row.get("owner"):
        item |= {"OwnerID": {"S": row["owner"]}, "OwnerName": {"S": "judged"}}
    for name in row.get("omit", []):
        del item[name]
    return Image(f"checkpoints/{shard_name(shard)}", canonical(item | row.get("set", {})))


def _place(text: str, shard: int, topology: Mapping[int, CaseShard]) -> Item:
    if text in ("NULL", "ABSENT", "TRIM_HORIZON"):
        return dict(NULL)
    if text == "EMPTY":
        return {"S": ""}
    if text == "LATEST" or text.isdigit():
        return {"S": text}
    if text in ("START", "END"):
        own = topology[shard]
        return {"S": own.start if text == "START" else own.end}
    known = {p: n for one in topology.values() for n, p, _ in one.records}
    return {"S": known.get(text, text)}


def _others(case: Case) -> Iterable[Image]:
    store = case.state.get("store", {})
    if "cache" in store or "raw" in store:
        item = _cache(case, store.get("cache", [])) | store.get("raw", {})
        yield Image("metadata/ShardCache", canonical(item))
    stamps = {"LastUpdate": {"N": _nanos(case.now - AGE)},
              "LastUpdateRFC": {"S": _rfc(case.now - AGE)}, "Name": {"S": "judged"}}
    leader: Item = {"Key": {"S": "Leader"}, **stamps}
    if store.get("leader"):
        leader["ID"] = {"S": store["leader"]}
    yield Image("metadata/Leader", canonical(leader))
    for name, item in store.get("strange", {}).items():
        yield Image(f"checkpoints/{name}", canonical({"Shard": {"S": name}, **item}))
    for client in store.get("clients", []):
        yield Image(f"clients/{client}", canonical({"ID": {"S": client}, **stamps}))


def _cache(case: Case, shards: Iterable[int]) -> Item:
    updated = case.now - AGE
    return {
        "Key": {"S": "ShardCache"}, "ShardIDs": _ids(shards),
        "LastUpdate": {"N": _nanos(updated)}, "LastUpdateRFC": {"S": _rfc(updated)},
    }


def _ids(shards: Iterable[int]) -> Item:
    return {"L": [{"S": shard_name(shard)} for shard in shards]}


def _moved(case: Case, item: Item | None, shard: int, wanted: str) -> Item:
    updated = case.now - AGE
    row: Item = dict(item) if item else {
        "Shard": {"S": shard_name(shard)}, "SequenceNumber": dict(NULL),
        "LastUpdate": {"N": _nanos(updated)}, "LastUpdateRFC": {"S": _rfc(updated)},
    }
    for name in ("OwnerID", "OwnerName"):
        row.pop(name, None)
    for name, kinds in {"SequenceNumber": "SN", "Finished": "N", "LastUpdate": "N"}.items():
        if next(iter(row.get(name, NULL))) not in (*kinds, "NULL"):
            row[name] = {"N": _nanos(updated)} if name == "LastUpdate" else dict(NULL)
    if wanted == "FINISHED":
        done = {"Finished": {"N": _nanos(updated)}, "FinishedRFC": {"S": _rfc(updated)}}
        return row | done
    if wanted not in ("same", "UNFINISHED"):
        row |= {"SequenceNumber": _place(wanted, shard, case.topology)}
    if wanted != "same":
        row |= {"Finished": dict(NULL), "FinishedRFC": dict(NULL)}
    return row


def _sorted(found: Iterable[Image]) -> list[Image]:
    return sorted(found, key=lambda image: image.key)


def _nanos(seconds: float) -> str:
    return str(int(seconds) * 1_000_000_000)


def _rfc(seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(int(seconds), UTC))
