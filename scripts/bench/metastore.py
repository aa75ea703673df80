"""One position in a metastore file of 100 MB: a splice against parsing and dumping it.

Both read the file, put one entry in, write a file beside it, sync it and rename it. Ours also
checks the whole text for what Quickwit would not load, reads the file a second time before it
writes, compares what it was told to, and leaves every other byte as it is; the rival does not.
"""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

from reshardctl.consumers.quickwit.document import FILE, Document
from reshardctl.model import Step, Update, Write
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files.local import Local
from reshardctl.stores.quickwit import Indexes
from scripts.bench.measured import cost_of
from scripts.bench.targets import record

MEGABYTES = 100
SHARDS = 1_000
INDEX, SOURCE, SHARD = "bench", "kinesis", "shardId-000000000000"
KEY = f"{INDEX}/{SOURCE}/{SHARD}"
NUMBER = 49680412033094866848527506851837432377108706273800486914
MOVED = str(NUMBER + (1 << 80))


def run(scale: int, folder: Path) -> None:
    """Print both, and the ratio."""
    place = folder / INDEX / "metastore.json"
    place.parent.mkdir()
    splits = plant(place, MEGABYTES * 1_000_000 // scale)
    before = place.read_bytes()
    print(f"one position in a metastore of {len(before) / 1e6:.0f} MB: {splits:,} splits")
    runs = 3 if scale == 1 else 1
    rival = cost_of(parse_and_dump, str(place), runs=runs)
    place.write_bytes(before)
    ours = cost_of(splice, str(folder), runs=runs)
    changed = place.read_bytes()
    if changed != before.replace(str(NUMBER).encode(), MOVED.encode(), 1):
        raise AssertionError("another byte has changed")
    costs = {"json.loads and json.dumps": rival, "reshardctl: read, check, splice": ours}
    for what, cost in costs.items():
        print(f"  {what:40}{cost.cpu:7.2f} s CPU{cost.peak:9.0f} MB at the most")
    cpu, memory = ours.cpu / rival.cpu, ours.peak / max(rival.peak, 0.1)
    record(f"one position in a metastore of {len(before) / 1e6:.0f} MB, CPU", ours.cpu, "s", None,
           rival="`json.load`, `json.dump`", theirs=rival.cpu)  # fmt: skip
    print(f"  {cpu:.2f} x the script's CPU, {memory:.2f} x its memory")


def plant(place: Path, size: int, shards: int = SHARDS) -> int:
    """A file of about that many bytes, in the layout of 0.9.0; how many splits are in it."""
    entries = {f"shardId-{n:012d}": str(NUMBER + n * 16) for n in range(shards)}
    source = {
        "version": "0.9", "source_id": SOURCE, "num_pipelines": 1, "enabled": True,
        "source_type": "kinesis", "params": {"stream_name": "bench", "region": "us-east-1"},
    }
    index = {
        "version": "0.9", "index_uid": f"{INDEX}:01K05GZNBV00A99DEN3CZV1HKE",
        "index_config": {
            "version": "0.9", "index_id": INDEX, "index_uri": f"s3://indexes/{INDEX}",
            "doc_mapping": {"mode": "dynamic", "field_mappings": []},
        },
        "checkpoint": {SOURCE: entries}, "create_timestamp": 1789, "sources": [source],
    }
    text = json.dumps(
        {"version": "0.9", "index": index, "splits": [], "delete_tasks": []}, indent=2
    )
    head, tail = text.split('"splits": []')
    one = json.dumps(split(0), indent=2).replace("\n", "\n    ")
    count = max(1, (size - len(text)) // (len(one) + 6))
    with place.open("w", encoding="utf-8") as file:
        file.write(f'{head}"splits": [\n    ')
        for n in range(count):
            file.write((",\n    " if n else "") + one.replace("0" * 26, f"{n:026d}"))
        file.write(f"\n  ]{tail}")
    return count


def split(number: int) -> dict[str, object]:
    """As Quickwit describes one, with tags as a log index has them."""
    return {
        "split_state": "Published", "update_timestamp": 1789, "publish_timestamp": 1789,
        "version": "0.9", "split_id": f"{number:026d}",
        "index_uid": f"{INDEX}:01K05GZNBV00A99DEN3CZV1HKE", "partition_id": 0,
        "source_id": SOURCE, "node_id": "node-1", "num_docs": 1_000_000,
        "uncompressed_docs_size_in_bytes": 1_000_000_000,
        "time_range": {"start": 1_795_219_200, "end": 1_795_222_800},
        "create_timestamp": 1789, "maturity": {"type": "mature"},
        "tags": [f"tenant_id:{n}" for n in range(10)], "footer_offsets": {"start": 1, "end": 2},
        "delete_opstamp": 0, "num_merge_ops": 0,
    }


def parse_and_dump(path: str) -> None:
    """The rival: what a script in a hurry does."""
    place = Path(path)
    document = json.loads(place.read_text(encoding="utf-8"))
    document["index"]["checkpoint"][SOURCE][SHARD] = MOVED
    beside = place.with_suffix(".tmp")
    with beside.open("w", encoding="utf-8") as file:
        file.write(json.dumps(document, indent=2, ensure_ascii=False))
        file.flush()
        os.fsync(file.fileno())
    beside.rename(place)


def splice(root: str) -> None:
    """Ours: what `fix` does with the store, once it has a plan."""
    store = Indexes(Local(root), partial(Document, FILE), INDEX, SOURCE)
    row = {image.key: image for image in store.read()}[KEY]
    change = Update({"position": {"S": MOVED}})
    step = Step("bench", (Write(KEY, change, row, "a benchmark", ("position",)),))
    if store.write(step, "bench") is not WriteResult.APPLIED:
        raise AssertionError("not written")
