"""What lies in a sink after a soak: every attempt at a batch, or what the file sink committed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.proof.libraries.spark.soak.judging import Delivery, Row

LOG = "_spark_metadata"


def attempts(folder: Path) -> list[Delivery]:
    """The files of running.Batches: one per batch and start; half written ones do not count."""
    return [
        Delivery(int(path.name[:6]), int(path.name[7:11]), _rows(json.loads(path.read_text())))
        for path in sorted(folder.glob("*.json"))
    ]


def committed(folder: Path) -> list[Delivery]:
    """The batches of a file sink, by its log: files that no committed batch names do not count."""
    entries = _entries(folder / LOG)
    return [
        Delivery(batch, 0, tuple(row for path in paths for row in _file(path)))
        for batch, paths in sorted(entries.items())
    ]


def _entries(log: Path) -> dict[int, list[Path]]:
    """The files that each batch added. A compact log repeats those of all batches before it."""
    logs = [path for path in log.glob("[0-9]*") if not path.name.endswith(".tmp")]
    found: dict[int, list[Path]] = {}
    known: set[Path] = set()
    for path in sorted(logs, key=lambda path: int(path.name.split(".")[0])):
        added = [Path(unquote(urlsplit(json.loads(line)["path"]).path))
                 for line in path.read_text().splitlines()[1:]]  # fmt: skip
        fresh = [each for each in added if each not in known]
        known.update(fresh)
        # A compact log is written beside the plain one of a batch at times: the same files.
        found.setdefault(int(path.name.split(".")[0]), []).extend(fresh)
    return found


def _file(path: Path) -> tuple[Row, ...]:
    lines = map(json.loads, path.read_text().splitlines())
    return _rows((each["shard"], each["number"], each["data"]) for each in lines)


def _rows(found: Iterable[Iterable[str]]) -> tuple[Row, ...]:
    rows = []
    for shard, number, data in found:
        key, turn = data.split("|")
        rows.append(Row(shard, int(number), key, int(turn)))
    return tuple(rows)
