"""A lab whose store is a file-backed metastore of Quickwit, as a real one wrote it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from tests.cli.lab import Lab, Servers, Wire, opened
from tests.support.case_stream import shard_name

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

    def put(self, text: str, index: str = "events") -> None:
        self.file(index).write_text(text)

    def everything(self) -> dict[str, bytes]:
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


def number(lab: Lab, shard: int, index: int) -> str:
    """The sequence number of a shard's record, by its index."""
    client = lab.fake.client()
    ask = {"StreamName": "events", "ShardId": shard_name(shard)}
    first = client.get_shard_iterator(**ask, ShardIteratorType="TRIM_HORIZON")
    records = client.get_records(ShardIterator=first["ShardIterator"])["Records"]
    return str(records[index]["SequenceNumber"])


def end(lab: Lab, shard: int) -> str:
    listed = lab.fake.client().list_shards(StreamName="events")["Shards"]
    return str(listed[shard]["SequenceNumberRange"]["EndingSequenceNumber"])


@contextmanager
def quickwit_lab(
    release: str, state: str, servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    wire: Wire, options: str = "", stream: str = "events",
) -> Iterator[QuickwitLab]:
    """A lab of a recorded metastore. options: those beside its release."""
    with opened(servers, golden_fake(state), [], tmp_path / "state", monkeypatch, wire) as base:
        yield base.beside(
            QuickwitLab, stream=stream, options=f"?release={release}{options}",
            root=planted(tmp_path / "indexes", release, state),
        )
