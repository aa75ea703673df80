"""The same truths through files: every form of sink, laid out as sinks are in life.

Each form of file is audited once, whole. What is laid out, packed or logged in another way has to
come out of it row by row as it was put in: nothing of an audit but its first step opens a sink.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reshardctl.auditing.facts import Fault
from reshardctl.errors import CannotTell, UsageError
from reshardctl.spark.audit import Columns, audit_path
from reshardctl.spark.audit.columns import mapped
from reshardctl.spark.audit.sink import opened
from tests.proof.damaged_sinks import damage
from tests.proof.damaged_sinks.files import (
    FORMS,
    write_bare_csv,
    write_csv,
    write_json,
    write_parquet,
    write_partitioned,
    write_sink,
    zip_files,
)
from tests.proof.damaged_sinks.layouts import CONNECTOR, OURS, TEXT, Layout
from tests.proof.damaged_sinks.outside import counts
from tests.proof.damaged_sinks.rows import Row
from tests.proof.damaged_sinks.spark_files import delta, file_sink, renamed
from tests.unit.spark.audit.scenes import (
    Scene,
    columns,
    differences,
    drop_one,
    fitting,
    scene,
)  # fmt: skip
from tests.unit.spark.fetched import needs_delta


def path(spark: Any, made: Scene, sink: Path, form: str | None, said: Columns) -> Any:
    return audit_path(spark, str(sink), form, lineage=made.lineage(), columns=said)


def wrong(spark: Any, made: Scene, sink: Path, form: str | None, layout: Layout) -> str:
    found = path(spark, made, sink, form, columns(layout))
    return differences(found, made.truth, layout)


Told = tuple[str, int, str, str, str, float, int]
"""Number, index in an aggregate, shard, key, stream, arrival, and the order as a place."""


def told(rows: Sequence[Row], layout: Layout) -> list[Told]:
    """What the columns of the layout say of the rows."""

    def of(role: str, value: Any, nothing: Any) -> Any:
        return value if layout.has(role) else nothing

    return sorted(
        (
            row.number or "", of("sub", row.sub, 0), of("shard", row.shard, ""),
            of("key", row.key, ""), of("stream", row.stream, ""),
            round(of("arrival", row.arrival, 0.0), 3), of("order", row.batch, 0),
        )
        for row in rows
    )  # fmt: skip


def misread(
    spark: Any, rows: Sequence[Row], sink: Path, form: str | None, layout: Layout
) -> str:
    """What of the sink an audit is given and was not put in, or is not given; "" if nothing."""
    given = mapped(opened(spark, str(sink), form).frame, columns(layout)).frame.collect()
    batches = sorted({row.batch for row in rows})
    orders = sorted({row["order"] for row in given})
    if layout.has("order") and len(orders) != len(batches):
        return f"{len(orders)} orders, {len(batches)} batches"
    place = dict(zip(orders, batches if layout.has("order") else [0], strict=True))
    read = sorted(
        (
            row["number"] or "", row["sub"], row["said"] or "", row["key"] or "",
            row["stream"] or "", round(row["arrival"] or 0.0, 3), place[row["order"]],
        )
        for row in given
    )  # fmt: skip
    ought = told(rows, layout)
    differing = [(is_, was) for is_, was in zip(read, ought, strict=False) if is_ != was]
    if differing or len(read) != len(ought):
        return f"{len(read)} of {len(ought)} rows: {differing[:1]}"
    return ""


@pytest.mark.parametrize(("form", "layout"), [
    ("parquet", OURS), ("json", CONNECTOR), ("csv", TEXT),
], ids=lambda value: getattr(value, "name", value))  # fmt: skip
def test_forms(spark: Any, tmp_path: Path, form: str, layout: Layout) -> None:
    made = scene(31, fitting(layout))
    sink = write_sink(tmp_path / "a sink, with spaces", made.rows, layout, form)
    assert wrong(spark, made, sink, form, layout) == ""


def test_the_files_counted_from_outside(spark: Any, tmp_path: Path) -> None:
    """Shards, ends and doubles as pyarrow and a dictionary have them."""
    made = scene(32, [*damage.LOSSES, *damage.DOUBLES])
    sink = write_sink(tmp_path / "sink", made.rows, OURS, "parquet")
    facts = path(spark, made, sink, None, Columns()).facts
    assert counts(sink, OURS) == {
        shard: (one.rows, int(one.first.number), int(one.last.number), one.doubled, one.extra)
        for shard, one in facts.shards.items()
    }  # fmt: skip


def test_a_row_taken_out_of_a_file_is_noticed(spark: Any, tmp_path: Path) -> None:
    made = scene(33, [damage.lose_range])
    sink = write_sink(tmp_path / "sink", made.rows, CONNECTOR, "json")
    assert misread(spark, made.rows, sink, "json", CONNECTOR) == ""
    drop_one(sink, CONNECTOR)
    assert f"{len(made.rows) - 1} of " in misread(spark, made.rows, sink, "json", CONNECTOR)
    assert "rows: found" in wrong(spark, made, sink, "json", CONNECTOR)


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_spark_s_file_sink(spark: Any, tmp_path: Path, form: str) -> None:
    """What no batch has committed is not in the sink."""
    made = scene(34, fitting(OURS))
    sink = file_sink(spark, made.rows, OURS, tmp_path, form)
    assert misread(spark, made.rows, sink, form, OURS) == ""


@pytest.mark.parametrize(("form", "layout", "ending"), [
    ("json", CONNECTOR, "gz"), ("csv", TEXT, "bz2"),
], ids=lambda value: getattr(value, "name", value))  # fmt: skip
def test_compressed(spark: Any, tmp_path: Path, form: str, layout: Layout, ending: str) -> None:
    made = scene(44, fitting(layout))
    sink = write_sink(tmp_path / "sink", made.rows, layout, form)
    zip_files(sink, ending)
    assert misread(spark, made.rows, sink, None, layout) == ""


@needs_delta
@pytest.mark.parametrize(("said", "vectors"), [("delta", False), (None, True)])
def test_delta(spark: Any, tmp_path: Path, said: str | None, vectors: bool) -> None:
    """What a commit has deleted is not in the sink; the directory says what it is."""
    made = scene(35, fitting(OURS))
    sink = delta(spark, made.rows, OURS, tmp_path / "lake", vectors=vectors)
    assert misread(spark, made.rows, sink, said, OURS) == ""


@needs_delta
def test_delta_whose_columns_have_other_names_than_its_files(spark: Any, tmp_path: Path) -> None:
    made = scene(46, fitting(CONNECTOR))
    sink = delta(spark, made.rows, CONNECTOR, tmp_path / "lake")
    renamed(spark, sink, "sequenceNumber", "No. of it")
    layout = replace(CONNECTOR, roles={**CONNECTOR.roles, "number": "No. of it"})
    assert misread(spark, made.rows, sink, None, layout) == ""


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_the_shard_and_the_day_in_the_path(spark: Any, tmp_path: Path, form: str) -> None:
    made = scene(36, [*damage.DOUBLES, *damage.DISORDER, damage.not_its_shard])
    sink = write_partitioned(tmp_path / "sink", made.rows, OURS, form)
    assert misread(spark, made.rows, sink, form, OURS) == ""


def test_a_column_that_came_later(spark: Any, tmp_path: Path) -> None:
    """Files of before have no column for the place in an aggregate, nor for the stream."""
    made = scene(37, [*damage.DOUBLES, damage.child_first])
    rows = sorted(made.rows, key=lambda row: row.batch)
    half = len(rows) // 2
    sink = tmp_path / "sink"
    sink.mkdir()
    old = [OURS.cells(row) for row in rows[:half]]
    for cells in old:
        del cells["sub_sequence_number"], cells["stream"]
    write_parquet(sink / "part-0.parquet", old, OURS)
    write_parquet(sink / "part-1.parquet", [OURS.cells(row) for row in rows[half:]], OURS)
    before = [replace(row, sub=0, stream="") for row in rows[:half]]
    assert misread(spark, [*before, *rows[half:]], sink, None, OURS) == ""


def test_what_else_lies_in_a_directory(spark: Any, tmp_path: Path) -> None:
    """Empty files, marks, hidden files, folders of a writer that is at it."""
    made = scene(38, [damage.double_once])
    sink = write_sink(tmp_path / "sink", made.rows, CONNECTOR, "json")
    (sink / "part-00009.json").touch()
    (sink / ".part-00000.json.crc").write_bytes(b"crc")
    (sink / "_temporary").mkdir()
    write_json(sink / "_temporary" / "x.json", [CONNECTOR.cells(made.rows[0])], CONNECTOR)
    assert misread(spark, made.rows, sink, None, CONNECTOR) == ""


def test_numbers_that_are_no_text_in_json(spark: Any, tmp_path: Path) -> None:
    """56 digits without quotes: a reader that takes them for a number loses 40 of them."""
    made = scene(39, [damage.double_once])
    sink = tmp_path / "sink"
    sink.mkdir()
    cells = [CONNECTOR.cells(row) for row in made.rows]
    text = "".join(
        json.dumps({**{k: v for k, v in one.items() if isinstance(v, str)},
                    "sequenceNumber": int(one["sequenceNumber"])}) + "\n"
        for one in cells
    )  # fmt: skip
    (sink / "part-0.json").write_text(text, encoding="utf-8")
    found = path(spark, made, sink, "json", Columns())
    held = {shard: (one.rows, one.doubled) for shard, one in found.facts.shards.items()}
    assert held == {s: (one.rows, one.doubled) for s, one in made.truth.shards.items()}
    assert found.facts.unusable == ()


def test_csv_without_a_header(spark: Any, tmp_path: Path) -> None:
    """The first row is taken for names then; nothing is guessed from it."""
    made = scene(40, ())
    sink = write_sink(tmp_path / "sink", made.rows, TEXT, "csv", write=write_bare_csv)
    with pytest.raises(UsageError, match="column"):
        path(spark, made, sink, "csv", Columns())


@pytest.mark.parametrize("form", sorted(FORMS))
def test_an_empty_sink(spark: Any, tmp_path: Path, form: str) -> None:
    """Files that say what they would hold, and hold no row, are a sink without rows. Files that
    have no byte say no more than a directory without files: it may be the wrong one."""
    made = scene(41, ())
    sink = tmp_path / "sink"
    sink.mkdir()
    FORMS[form](sink / f"part-0.{form}", [], OURS)
    if form == "json":
        with pytest.raises(CannotTell, match="holds no file of rows"):
            path(spark, made, sink, form, Columns())
        return
    facts = path(spark, made, sink, form, Columns()).facts
    assert (facts.rows, dict(facts.shards), facts.unusable) == (0, {}, ())


def test_half_a_line_of_json(spark: Any, tmp_path: Path) -> None:
    """A writer died in it: counted, and not as the record that it may have begun."""
    made = scene(47, ())
    sink = write_sink(tmp_path / "sink", made.rows, CONNECTOR, "json", files=2)
    file = sink / "part-00001.json"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines) + lines[0][: len(lines[0]) - 9], encoding="utf-8")
    facts = path(spark, made, sink, "json", columns(CONNECTOR)).facts
    assert [(one.fault, one.rows) for one in facts.unusable] == [(Fault.NO_NUMBER, 1)]
    assert facts.rows == made.truth.rows + 1
    assert sum(one.rows for one in facts.shards.values()) == made.truth.rows


def test_csv_files_of_other_columns(spark: Any, tmp_path: Path) -> None:
    """By their place they would be read as something else."""
    made = scene(48, ())
    sink = write_sink(tmp_path / "sink", made.rows, TEXT, "csv", files=2)
    turned = [dict(reversed(TEXT.cells(row).items())) for row in made.rows[:3]]
    write_csv(sink / "part-turned.csv", turned, TEXT)
    with pytest.raises(CannotTell, match=r"(?i)header|part-turned\.csv"):
        path(spark, made, sink, "csv", columns(TEXT))


def test_a_compressed_file_that_ends_early(spark: Any, tmp_path: Path) -> None:
    """Spark 3.5 tells of it without the file's name, 4.0 and later with it (runs of Nov 2026)."""
    made = scene(49, ())
    sink = write_sink(tmp_path / "sink", made.rows, CONNECTOR, "json")
    zip_files(sink)
    file = sink / "part-00001.json.gz"
    file.write_bytes(file.read_bytes()[:-200])
    named = "Unexpected end" if spark.version.startswith("3.") else r"part-00001\.json\.gz"
    with pytest.raises(CannotTell, match=named) as found:
        path(spark, made, sink, "json", columns(CONNECTOR))
    assert str(sink) in found.value.what


@pytest.mark.parametrize("broken", ["cut off", "no bytes", "text"])
def test_a_corrupt_file(spark: Any, tmp_path: Path, broken: str) -> None:
    """It is named; the rest of the sink is not counted as if it were all."""
    made = scene(42, ())
    sink = write_sink(tmp_path / "sink", made.rows, OURS, "parquet")
    file = sink / "part-00001.parquet"
    whole = file.read_bytes()
    file.write_bytes({"cut off": whole[:-100], "no bytes": b"PAR1", "text": b"x" * 500}[broken])
    with pytest.raises(CannotTell, match=r"cannot read .*part-00001\.parquet"):
        path(spark, made, sink, "parquet", Columns())
