"""Spark checkpoints as short tables: one query, its batches, and files that are nobody's.

    [query]
    connector = "awslabs"     # qubole, awslabs; lineage: the project's own Python source
    key = "0"                 # the Kinesis source's place, or its name: sources/<key>/
    scala = "2.13"            # of the connector that wrote it: the order of keys; default 2.12
    spark = "4.1"             # whose conf stands in line 2: 3.3, 3.5, 4.1 or 4.3; default by scala
    version = "v1"            # of the offset log; v2 with spark = "4.3"
    others = { 1 = "{…}" }    # the other sources' lines, by key
    watermark = 0             # batchWatermarkMs of every batch
    state = true              # there is a state/ folder
    crc = true                # every file has Hadoop's checksum beside it
    offset = { }              # lineage: members beside `shards`, over the stream's own
    table = true              # awslabs: the log is in a DynamoDB table

    [[batches]]
    id = 0
    at = 300                  # batchTimestampMs, in seconds after the stream's creation
    batch = 0                 # metadata.batchId; default the id
    committed = true
    line = { 0 = "TRIM_HORIZON" }   # what offsets/<id> says: where the connectors' batch starts
    log = { 0 = "s0-2" }            # the connector's log of it: where it ended; absent: no log

    [[strangers]]             # with `table`: a row that this query has not written
    batch = 9
    shard = 0
    at = "s0-5"

    [[files]]                 # put last, over whatever is there; no text: an orphaned checksum
    path = "offsets/1.orig"
    text = "…"

A place: TRIM_HORIZON, LATEST, SHARD_END; "s0-2": AFTER that record's number, "@s0-2": AT it;
"AT:+60": AT_TIMESTAMP that many seconds after creation; "END": AFTER the EndingSequenceNumber.

The fix: an uncommitted newest batch is edited where it stands and its log is emptied; else the
batch after it is appended. A checksum without its file goes where a file will be. `writes` are the
places of its line, all of them. In lineage's offsets the newest line is edited, and `writes` are
the places that move or, as "delete", go. Their places: "s0-2!" is that record with the end behind
it, "!" an end without a number; "FROM+60" begins by time; "~+90" behind any of them is the `tip`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reshardctl.model import Create, Image, Step, Update
from tests.proof.reference.spark_files import COMMIT, Logged, crc_of, logged
from tests.proof.reference.spark_log import FOLDERS
from tests.proof.reference.spark_offset import Offset, Position, entry_text, offset
from tests.support.case_stream import only, shard_name
from tests.support.log_table import row, tabled

if TYPE_CHECKING:
    from tests.support.case import Case

KEYS = frozenset({"query", "batches", "files", "strangers"})
START = "startingPosition"

QUERY = {
    "connector": "awslabs", "key": "0", "scala": "2.12", "spark": "", "version": "v1",
    "others": {}, "watermark": 0, "state": False, "crc": True,
    "offset": {}, "table": False,
}  # fmt: skip
BATCH_KEYS = {"id", "at", "batch", "committed", "line", "log", "offset"}
MARKS = ("TRIM_HORIZON", "LATEST", "SHARD_END")

GOLDEN = Path(__file__).parents[2] / "golden" / "spark"
CONF_OF = {
    "3.3": "qubole-kinesis-sql/s1/offsets/0",
    "3.5": "awslabs-1.4.2-sdk/s1/offsets/0",
    "4.1": "awslabs-head-0f4c005/s1/offsets/0",
    "4.3": "awslabs-head-0f4c005-spark-4.3/s1/offsets/0",
}
QUERY_ID = '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}'

Files = dict[str, str | None]
"""Texts by path; None where only a checksum is left."""


def check(state: Mapping[str, Any], topology: Mapping[int, Any]) -> None:
    """Every key is known, and every batch has its id and its line."""
    only(state["query"], set(QUERY), "query")
    for batch in state["batches"]:
        only(batch, BATCH_KEYS, "batches")
        _ = batch["id"], batch["line"]
    for file in state.get("files", []):
        only(file, {"path", "text"}, "files")
    for stranger in state.get("strangers", []):
        only(stranger, {"batch", "shard", "at"}, "strangers")
    if state["query"].get("connector") not in (*FOLDERS, "lineage"):
        raise ValueError(f"connector = {state['query'].get('connector')!r}")
    if not topology:
        raise ValueError("no shards")


def images(case: Case) -> list[Image]:
    """Every file and every folder of the checkpoint, and the rows of its log's table."""
    query = _query(case)
    files = _images(files_of(case), query["crc"])
    if not query["table"]:
        return files
    strangers = [
        row(entry["batch"], place.shard, entry_text(place, query["connector"]))
        for entry in case.state.get("strangers", [])
        for place in [_place(case, entry["shard"], entry["at"])]
    ]
    own = tabled(files, _folder(query))
    return sorted([*own, *strangers], key=lambda image: image.key)


def repaired(case: Case, writes: Mapping[int, str]) -> list[Image]:
    """The same after the fix by hand; emptied folders stay."""
    before = images(case)
    if not writes:
        return before
    found = files_of(case)
    newest = case.state["batches"][-1]
    if _query(case)["connector"] == "lineage":
        _edit_ends(case, found, newest["id"], writes)
    else:
        _plan(case, found, newest, writes)
    left = {image.key: image for image in before if image.key.endswith("/")}
    left |= {image.key: image for image in _images(found, _query(case)["crc"])}
    return [left[key] for key in sorted(left)]


def spelled(case: Case, steps: Iterable[Step]) -> dict[int, str]:
    """The places of the offset line that the steps write."""
    texts = [
        write.change.set["text"] if isinstance(write.change, Update)
        else write.change.attributes["text"]
        for step in steps for write in step.writes
        if write.key.startswith("offsets/") and isinstance(write.change, Create | Update)
    ]  # fmt: skip
    if not texts:
        return {}
    line = logged(texts[-1]["S"]).lines[_query(case)["key"]]
    assert line is not None
    if _query(case)["connector"] == "lineage":
        return _moved_ends(case, line)
    places = offset(line, _query(case)["connector"]).places
    return {int(shard[8:]): _short(case, position) for shard, position in places.items()}


def files_of(case: Case) -> Files:
    """The texts of all files by path."""
    query = _query(case)
    found: Files = {"metadata": QUERY_ID}
    for batch in case.state["batches"]:
        found[f"offsets/{batch['id']}"] = _log_text(case, batch)
        if batch.get("committed"):
            found[f"commits/{batch['id']}"] = COMMIT
        for shard, short in batch.get("log", {}).items():
            position = _place(case, int(shard), short)
            named = batch.get("batch", batch["id"])
            path = f"{_folder(query)}/{named}/{position.shard}"
            found[path] = entry_text(position, query["connector"])
    if query["state"]:
        found["state/0/_metadata/metadata"] = (
            'v1\n{"operatorInfo":{"operatorId":0,"operatorName":"stateStoreSave"},'
            '"stateStoreInfo":[{"storeName":"default","numColsPrefixKey":0,"numPartitions":2}]}'
        )
    for file in case.state.get("files", []):
        found[file["path"]] = file.get("text")
    return found


def planted(files: Iterable[Image], root: Path) -> None:
    """Put images on a disk."""
    for image in files:
        path = root / image.key
        if image.key.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if "text" in image.attributes:
            path.write_text(image.attributes["text"]["S"], encoding="utf-8")
        if "crc" in image.attributes:
            beside = path.with_name(f".{path.name}.crc")
            beside.write_bytes(base64.b64decode(image.attributes["crc"]["B"]))


def _query(case: Case) -> dict[str, Any]:
    query = {**QUERY, **case.state["query"]}
    query["spark"] = query["spark"] or {"2.12": "3.5", "2.13": "4.1"}[query["scala"]]
    return query


def _folder(query: Mapping[str, Any]) -> str:
    return f"sources/{query['key']}/{FOLDERS[query['connector']]}"


@cache
def _conf(spark: str) -> str:
    """What real Spark wrote from "conf" on."""
    lines = (GOLDEN / CONF_OF[spark]).read_text(encoding="utf-8").split("\n")
    return lines[1][lines[1].index('"conf"') :]


def _log_text(case: Case, batch: Mapping[str, Any]) -> str:
    query = _query(case)
    at = int((case.stream["created"] + batch.get("at", 300)) * 1000)
    start = f'{{"batchWatermarkMs":{query["watermark"]},"batchTimestampMs":{at},'
    line = _line(case, batch)
    lines = {query["key"]: line, **query["others"]}
    if query["version"] == "v1":
        lines = {key: lines[key] for key in sorted(lines, key=int)}
    return Logged(query["version"], start + _conf(query["spark"]), lines).text()


def _line(case: Case, batch: Mapping[str, Any]) -> str:
    query = _query(case)
    if query["connector"] == "lineage":
        marks = {shard_name(int(s)): _end(case, p) for s, p in batch["line"].items()}
        head = {"stream": case.stream["name"], "created": case.stream["created"]}
        return json.dumps({"shards": marks, **head, **query["offset"], **batch.get("offset", {})})
    places = [_place(case, int(shard), short) for shard, short in batch["line"].items()]
    number = batch.get("batch", batch["id"])
    found = Offset(number, case.stream["name"], {position.shard: position for position in places})
    return found.text(query["connector"], query["scala"])


def _place(case: Case, shard: int, short: str) -> Position:
    name = shard_name(shard)
    if short in MARKS:
        return Position(name, short)
    if short.startswith("AT:+"):
        at = case.stream["created"] + float(short[4:])
        return Position(name, "AT_TIMESTAMP", str(int(at * 1000)))
    if short == "END":
        ending = case.topology[shard].end
        if not ending:
            raise ValueError(f"shard {shard} is open")
        return Position(name, "AFTER_SEQUENCE_NUMBER", ending)
    if short.startswith("@"):
        return Position(name, "AT_SEQUENCE_NUMBER", case.number_of(short[1:]))
    return Position(name, "AFTER_SEQUENCE_NUMBER", case.number_of(short))


def _short(case: Case, position: Position) -> str:
    """The other way round; what no record has is left as it is."""
    if position.kind == "AT_TIMESTAMP":
        return f"AT:+{int(position.value) / 1000 - case.stream['created']:g}"
    if position.kind == "AFTER_SEQUENCE_NUMBER":
        return _payload(case, position.value)
    if position.kind == "AT_SEQUENCE_NUMBER":
        return f"@{_payload(case, position.value)}"
    return position.kind


def _payload(case: Case, number: str) -> str:
    try:
        return case.payload_of(number)
    except KeyError:
        return number


def _plan(
    case: Case, found: Files, newest: Mapping[str, Any], writes: Mapping[int, str]
) -> None:
    """Edit the uncommitted batch, or append one; the connector's log of it is to be absent."""
    batch = newest["id"] + bool(newest.get("committed"))
    text = found[f"offsets/{newest['id']}"]
    assert text is not None
    line = _line(case, {"id": batch, "line": {str(s): place for s, place in writes.items()}})
    found[f"offsets/{batch}"] = logged(text).with_line(_query(case)["key"], line).text()
    for path in [path for path in found if path.startswith(f"{_folder(_query(case))}/{batch}/")]:
        del found[path]
    for orphan in (f"commits/{batch}", f"offsets/{batch + 1}"):
        if found.get(orphan, "") is None:
            del found[orphan]


def _end(case: Case, short: str) -> dict[str, Any]:
    """One place of the project's own source: where the batch ended."""
    place, _, quiet = short.partition("~+")
    tip = {"tip": case.stream["created"] + float(quiet)} if quiet else {}
    if place.startswith("FROM+"):
        return {"seq": "", "end": False, "from": case.stream["created"] + float(place[5:]), **tip}
    if place == "TRIM_HORIZON":
        return {"seq": "", "end": False, **tip}
    last, done, _ = place.partition("!")
    number = last if last.isdigit() else case.number_of(last) if last else ""
    return {"seq": number, "end": bool(done), **tip}


def _edit_ends(case: Case, found: Files, batch: int, writes: Mapping[int, str]) -> None:
    text = found[f"offsets/{batch}"]
    assert text is not None
    whole = logged(text)
    key = _query(case)["key"]
    line = json.loads(whole.lines[key] or "{}")
    for shard, short in writes.items():
        line["shards"].pop(shard_name(shard), None)
        if short != "delete":
            line["shards"][shard_name(shard)] = _end(case, short)
    line["shards"] = dict(sorted(line["shards"].items()))
    found[f"offsets/{batch}"] = whole.with_line(key, json.dumps(line)).text()


def _moved_ends(case: Case, line: str) -> dict[int, str]:
    """Places that differ from those of the newest batch."""
    before = json.loads(_line(case, case.state["batches"][-1]))["shards"]
    then = json.loads(line)["shards"]
    moved = {int(shard[8:]): "delete" for shard in before.keys() - then.keys()}
    for shard, end in then.items():
        if end != before.get(shard):
            mark = "!" if end["end"] else ""
            place = _payload(case, end["seq"]) if end["seq"] else "" if mark else "TRIM_HORIZON"
            moved[int(shard[8:])] = place + mark
    return moved


def _images(files: Files, crc: bool) -> list[Image]:
    """Files and the folders above them, in key order."""
    found = {folder: Image(folder, {}) for path in files for folder in _above(path)}
    for path, text in files.items():
        attributes: dict[str, Any] = {}
        if crc or text is None:
            checksum = crc_of((text or "").encode())
            attributes["crc"] = {"B": base64.b64encode(checksum).decode()}
        if text is not None:
            attributes["text"] = {"S": text}
        found[path] = Image(path, attributes)
    return [found[key] for key in sorted(found)]


def _above(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        yield "/".join(parts[:depth]) + "/"
