"""The recorded starts of one library and release, and which of them count at this run.

A file holds one start a line, by digest. The environment says how it is used:
RESHARDCTL_STARTS=all runs every start again; RESHARDCTL_RECORD_STARTS=1 adds what was run.
`tests/proof/libraries/run --all` and `--record` set them.
"""

from __future__ import annotations

import json
import os
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.proof.libraries.starts.sample import commit_of, sample
from tests.support.own_folders import RECORD_STARTS

ROOT = Path(__file__).parents[4]
RECORDED = Path(__file__).parents[1] / "recorded"

Record = dict[str, Any]


class Records:
    """The records of ``name``, a library and its release; safe to use from many threads."""

    def __init__(self, name: str, folder: Path = RECORDED, commit: str | None = None) -> None:
        self._path = folder / f"{name}.jsonl"
        self._commit = commit_of(ROOT) if commit is None else commit
        self._lock = threading.Lock()
        self._records = _read(self._path)
        self._new: dict[str, Record] = {}

    def usable(self, digest: str) -> Record | None:
        """The record that stands for a start with these inputs; None when it has to be run."""
        if os.environ.get("RESHARDCTL_STARTS") == "all" or digest in self._again:
            return None
        return self._records.get(digest)

    def recorded(self, digest: str) -> Record | None:
        """What is recorded of these inputs, to compare a new run with."""
        return self._records.get(digest)

    def add(self, digest: str, record: Record) -> None:
        """Keep what was run, where this run is to record; at once, for a run may be cut short.

        Records that name another program (``runner``) than this one can no longer be used, and are
        removed.
        """
        if os.environ.get(RECORD_STARTS) != "1" or digest in self._records:
            return
        runner = record.get("runner")
        with self._lock:
            self._new[digest] = record
            found = {**_read(self._path), **self._new}
            _write(self._path, {
                each: kept for each, kept in found.items() if kept.get("runner", runner) == runner
            })

    @cached_property
    def _again(self) -> frozenset[str]:
        return sample(self._commit, self._records.keys())


def _read(path: Path) -> dict[str, Record]:
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {record.pop("digest"): record for record in map(json.loads, lines)}


def _write(path: Path, records: dict[str, Record]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [
        json.dumps({"digest": digest, **records[digest]}, separators=(",", ":"))
        for digest in sorted(records)
    ]
    new = path.with_suffix(".new")
    new.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    new.replace(path)
