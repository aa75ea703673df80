"""A lab whose store is a file-backed metastore of Quickwit, as a real one wrote it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from reshardctl.testing import FakeKinesis, load_topology
from tests.cli.lab import Lab

GOLDEN = Path(__file__).parent.parent / "golden" / "quickwit"
LATER = 12_000
"""Seconds after the streams' creation: every record has arrived."""


@dataclass
class QuickwitLab(Lab):
    """See `Lab`; the metastore lies below `root`."""

    root: Path = field(default_factory=Path)

    @property
    def locator(self) -> str:
        return f"quickwit+file://{self.root}{self.options}"

    def file(self, index: str = "events") -> Path:
        return self.root / index / "metastore.json"

    def text(self, index: str = "events") -> str:
        """As it stands there, byte for byte."""
        return self.file(index).read_bytes().decode()

    def positions(self, index: str = "events", source: str = "kinesis-events") -> dict[str, str]:
        found: dict[str, str] = json.loads(self.text(index))["index"]["checkpoint"][source]
        return found

    def texts(self) -> dict[str, bytes]:
        """Every file of the metastore."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*")) if path.is_file()
        }


def golden_fake(state: str) -> FakeKinesis:
    """The streams of a recorded state."""
    scenario = json.loads((GOLDEN / "0.9.0" / state / "scenario.json").read_text())
    return load_topology([
        {"account": "123456789012", "region": "us-east-1", "now": LATER, **one}
        for one in scenario["streams"]
    ])


def planted(root: Path, release: str, state: str) -> Path:
    """A copy of a recorded metastore, with the modes that Quickwit gives its files."""
    shutil.copytree(GOLDEN / release / state / "metastore", root)
    for path in root.rglob("*.json"):
        path.chmod(0o600)
    return root
