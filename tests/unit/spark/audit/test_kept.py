"""What is taken from an audit's frames: tables of offending rows, and the keys that lack most."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.auditing.facts import Fault, Unusable
from reshardctl.errors import UsageError
from reshardctl.spark.audit import Audited
from reshardctl.spark.audit.audit import check, most_missing, save
from tests.unit.auditing.hand_made_facts import facts, inside, lacking, number, whole

ROWS = [("a", number(1, 300)), ("b", number(1, 310)), ("a", number(1, 320))]


def audited(spark: Any, **more: Any) -> Audited:
    """Three records missing, of two keys; one doubled; none disordered."""
    lost = spark.createDataFrame(ROWS, "partition_key STRING, sequence_number STRING")
    found = replace(facts(
        inside(1, 2, 890, doubled=1, extra=1), against=(lacking(1, 3, 300, 320),),
    ), **more)  # fmt: skip
    return Audited(found, lost.limit(0), lost.limit(1), None, lost)


def test_tables_are_there_whole_and_the_owner_s_alone(spark: Any, tmp_path: Path) -> None:
    place = tmp_path / "rows with a space"
    assert save(audited(spark), str(place)) == ("missing", "doubled")
    assert sorted(one.name for one in place.iterdir()) == ["doubled", "missing"]
    assert list(tmp_path.iterdir()) == [place]
    rows = spark.read.parquet(f"file://{place}/missing").collect()
    assert sorted((r["partition_key"], r["sequence_number"]) for r in rows) == sorted(ROWS)
    for path in (place, *place.rglob("*")):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_a_table_that_cannot_be_written_leaves_nothing(spark: Any, tmp_path: Path) -> None:
    broken = spark.range(1).selectExpr("raise_error('half way') AS x")
    with pytest.raises(Exception, match="half way"):
        save(replace(audited(spark), missing=broken), str(tmp_path / "rows"))
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_rows_has_no_table(spark: Any, tmp_path: Path) -> None:
    clean = replace(audited(spark), facts=whole())
    assert save(clean, str(tmp_path / "rows")) == ()
    bad = (Unusable(Fault.NO_NUMBER, 1),)
    names = save(replace(clean, facts=whole(unusable=bad)), str(tmp_path / "more"))
    assert names == ("unusable",)


def test_keys_that_lack_most(spark: Any) -> None:
    assert most_missing(audited(spark)).missing == (("a", 2), ("b", 1))
    cut = most_missing(audited(spark), most=1)
    assert (cut.missing, cut.others) == ((("a", 2),), 1)
    assert most_missing(replace(audited(spark), facts=whole())).missing == ()


def test_a_directory_must_be_new(tmp_path: Path) -> None:
    check(str(tmp_path / "rows"))
    check("s3a://bucket/rows")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for there in (tmp_path, tmp_path / "link", tmp_path / "no" / "rows"):
        with pytest.raises(UsageError):
            check(str(there))
