"""`fix --to DIR`: the copy is mended, the original stays byte for byte; s1x as it was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reshardctl.errors import CannotTell
from reshardctl.stores.files import local
from tests.cli.spark_lab import (
    HEAD,
    SparkLab,
    spark_lab,
)


@pytest.fixture
def lab(
    servers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: Any
) -> Iterator[SparkLab]:
    with spark_lab(HEAD, "s1x", servers, tmp_path, monkeypatch, wire) as lab:
        yield lab


def fixed(lab: SparkLab, to: Path) -> Any:
    return lab.fix("--created", lab.created, "--to", to)


def test_the_copy_is_mended_and_the_original_untouched(lab: SparkLab, tmp_path: Path) -> None:
    before, to = lab.files(), tmp_path / "copy"
    done = fixed(lab, to)
    assert done.code in (0, 1), done.err
    assert f"checkpointLocation={to}" in done.err and "delete" in done.err
    assert lab.files() == before
    root, lab.root = lab.root, to
    assert "shardId-000000000000" in lab.line(lab.newest())
    assert lab.dry().code in (0, 1)
    assert lab.undo().code == 0
    assert lab.files() == before
    lab.root = root


def test_nothing_is_put_over_what_is_there(lab: SparkLab, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    assert fixed(lab, tmp_path / "copy").says("is there already")
    assert list((tmp_path / "copy").iterdir()) == []
    assert fixed(lab, lab.root / "inside").says("lies in")


def test_a_link_is_refused(lab: SparkLab, tmp_path: Path) -> None:
    (lab.root / "state").symlink_to(tmp_path)
    assert fixed(lab, tmp_path / "copy").code == 4
    assert not (tmp_path / "copy").exists()


def test_a_running_original_is_not_copied(lab: SparkLab, tmp_path: Path) -> None:
    def plans_a_batch(_: float) -> None:
        (lab.root / "offsets" / "99").write_text("v1\n{}\n-")

    lab.on_sleep.append(plans_a_batch)
    shown = lab.cli(
        "fix", *lab.where, "--yes", "--created", lab.created, "--to", tmp_path / "copy"
    )
    assert shown.code == 4
    assert not (tmp_path / "copy").exists()


def test_a_query_that_goes_on_meanwhile_leaves_no_copy(
    lab: SparkLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moving(source: Path, to: Path) -> None:
        whole(source, to)
        (lab.root / "offsets" / "4").write_text("v1\n{}\n-")

    whole = local.copied
    monkeypatch.setattr(local, "copied", moving)
    assert fixed(lab, tmp_path / "copy").says("moved while it was copied")
    assert not (tmp_path / "copy").exists()


def test_a_copy_that_is_cut_short_leaves_no_such_folder(
    lab: SparkLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        assert not (tmp_path / "copy").exists()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copy2", full)
    with pytest.raises(CannotTell, match="No space"):
        local.copied(lab.root, tmp_path / "copy")
    assert sorted(p.name for p in tmp_path.iterdir() if "copy" in p.name) == []
