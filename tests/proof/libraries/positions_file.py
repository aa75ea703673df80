"""A file of positions as an operator writes one for `fix --positions`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.support.case import Case
from tests.support.case_stream import shard_name


def positions_file(folder: Path, case: Case, told: Mapping[int, str]) -> Path:
    """CSV in the folder. told: by shard, the record to start after, or a kind of position."""
    lines = ["shard,kind,number"]
    for shard, where in told.items():
        record = where.startswith("s")
        kind, number = ("AFTER_SEQUENCE_NUMBER", case.number_of(where)) if record else (where, "")
        lines.append(f"{shard_name(shard)},{kind},{number}")
    path = folder / "told.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
