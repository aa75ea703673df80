"""A lab whose store is a checkpoint directory, as a real connector left it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from tests.cli.lab import Lab, Servers, Wire, opened

GOLDEN = Path(__file__).parent.parent / "golden" / "spark"
QUBOLE, V1, HEAD = "qubole-1.2.0_spark-3.0", "awslabs-1.4.2", "awslabs-head-0f4c005"
FOLDERS = {QUBOLE: QUBOLE, V1: "awslabs-1.4.2-sdk", HEAD: HEAD}


@dataclass
class SparkLab(Lab):
    """See `Lab`; the checkpoint lies in `root`."""

    root: Path = field(default_factory=Path)

    @property
    def locator(self) -> str:
        return f"spark:{self.root}{self.options}"

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Every file, hidden ones too: its content and its mode."""
        return {
            path.relative_to(self.root).as_posix(): (path.read_bytes(), path.stat().st_mode)
            for path in sorted(self.root.rglob("*")) if path.is_file()
        }

    def line(self, batch: int) -> dict[str, Any]:
        """The source's line of an offset log."""
        text = (self.root / "offsets" / str(batch)).read_text()
        found: dict[str, Any] = json.loads(text.splitlines()[2].removeprefix("0:"))
        return found

    def newest(self) -> int:
        return max(int(p.name) for p in (self.root / "offsets").iterdir() if p.name.isdigit())


@contextmanager
def spark_lab(
    release: str, shape: str, servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    wire: Wire, options: str | None = None, folder: str = "",
) -> Iterator[SparkLab]:
    """A lab of a recorded checkpoint.

    options: `None` for those that the query ran with. folder: the recordings, by default those of
    the release.
    """
    folder = folder or FOLDERS[release]
    fake = golden_fake(folder, shape)
    with opened(servers, fake, [], tmp_path / "state", monkeypatch, wire) as base:
        yield base.beside(
            SparkLab, stream=facts(folder, shape)["stream"],
            options=said(folder, shape, release) if options is None else options,
            root=planted(tmp_path / "checkpoint", folder, shape),
        )


def facts(folder: str, shape: str) -> dict[str, Any]:
    """What is known of a recorded run."""
    found: dict[str, Any] = json.loads((GOLDEN / folder / f"{shape}.json").read_text())
    return found


def golden_fake(folder: str, shape: str) -> FakeKinesis:
    """The stream of a recorded run, at the moment of the restart."""
    tables = facts(folder, shape)["streams"]
    return load_topology([{k: v for k, v in one.items() if v is not None} for one in tables])


def planted(root: Path, folder: str, shape: str) -> Path:
    """A copy of a recorded checkpoint, with modes of its own."""
    shutil.copytree(GOLDEN / folder / shape, root)
    for path in root.rglob("*"):
        path.chmod(0o750 if path.is_dir() else 0o640)
    return root


def said(folder: str, shape: str, release: str) -> str:
    """The options that the recorded query ran with, as a locator says them."""
    start = facts(folder, shape)["options"]["startingPosition"]
    fails = "true" if release == QUBOLE else "false"
    return f"?release={release}&startingPosition={start}&failOnDataLoss={fails}&sink=other"


def touched(path: Path, seconds: float) -> None:
    """Written at that time."""
    os.utime(path, (seconds, seconds))
