"""Sinks as files: Parquet by pyarrow, JSON lines and CSV by the standard library, no Spark."""

from __future__ import annotations

import base64
import bz2
import csv
import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.proof.damaged_sinks.layouts import Cells, Layout
from tests.proof.damaged_sinks.rows import Row

Write = Callable[[Path, Sequence[Cells], Layout], None]


def write_parquet(path: Path, rows: Sequence[Cells], layout: Layout) -> None:
    """One file. Times are UTC microseconds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {
        "binary": pa.binary(), "string": pa.string(), "bigint": pa.int64(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }  # fmt: skip
    names = list(rows[0]) if rows else list(layout.types)
    schema = pa.schema([(name, kinds[layout.types[name]]) for name in names])
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path)


def write_json(path: Path, rows: Sequence[Cells], layout: Layout) -> None:
    """A line a row; what is null is left out, as Spark does it."""
    del layout
    lines = ({k: _plain(v) for k, v in row.items() if v is not None} for row in rows)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def write_csv(path: Path, rows: Sequence[Cells], layout: Layout) -> None:
    """With a header."""
    _csv(path, rows, layout, header=True)


def write_bare_csv(path: Path, rows: Sequence[Cells], layout: Layout) -> None:
    """Without a header."""
    _csv(path, rows, layout, header=False)


def _csv(path: Path, rows: Sequence[Cells], layout: Layout, *, header: bool) -> None:
    names = list(rows[0]) if rows else list(layout.types)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if header:
            writer.writerow(names)
        writer.writerows([_plain(row[name]) for name in names] for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else value


FORMS: dict[str, Write] = {"parquet": write_parquet, "json": write_json, "csv": write_csv}


def write_sink(
    root: Path, rows: Sequence[Row], layout: Layout, form: str, *, files: int = 3,
    write: Write | None = None,
) -> Path:  # fmt: skip
    """A directory of part files, as Spark leaves it. Rows lie as they come, in `files` pieces."""
    root.mkdir(parents=True, exist_ok=True)
    write = write or FORMS[form]
    cells = [layout.cells(row) for row in rows]
    size = max(1, -(-len(cells) // files))
    for part, at in enumerate(range(0, len(cells), size)):
        write(root / f"part-{part:05d}.{form}", cells[at : at + size], layout)
    (root / "_SUCCESS").touch()
    return root


def zip_files(root: Path, ending: str = "gz") -> None:
    """Each of its files compressed, under a name that says so."""
    for file in sorted(root.rglob("part-*")):
        content = file.read_bytes()
        packed = gzip.compress(content) if ending == "gz" else bz2.compress(content)
        file.with_name(f"{file.name}.{ending}").write_bytes(packed)
        file.unlink()


def write_partitioned(root: Path, rows: Iterable[Row], layout: Layout, form: str) -> Path:
    """Directories `<shard column>=<shard>/date=<day>`; the files have no column for the shard."""
    column = layout.roles["shard"]
    pieces: dict[Path, list[Cells]] = {}
    for row in rows:
        cells = layout.cells(row)
        day = datetime.fromtimestamp(row.arrival, UTC).date().isoformat()
        folder = root / f"{column}={cells.pop(column)}" / f"date={day}"
        pieces.setdefault(folder, []).append(cells)
    for folder, mine in pieces.items():
        folder.mkdir(parents=True, exist_ok=True)
        FORMS[form](folder / f"part-00000.{form}", mine, layout)
    return root
