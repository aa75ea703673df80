"""The golden Spark checkpoints that have a listing, ready for a restart, and edits by hand.

A restart's outcome is told in the words of the tables of runs: "6+6 rows, LOST s0:4-9".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.service import Settings
from tests.proof.reference.spark import Run, Sink, run
from tests.proof.reference.spark_files import Logged, logged, put, remove
from tests.proof.reference.spark_log import FOLDERS
from tests.proof.reference.spark_offset import Offset, Position, entry_text
from tests.proof.reference.spark_release import RELEASES, Options

GOLDEN = Path(__file__).parents[1] / "golden" / "spark"
FOLDER_OF = {
    "qubole-1.2.0_spark-3.0": "qubole-1.2.0_spark-3.0",
    "awslabs-1.4.2": "awslabs-1.4.2-sdk",
    "awslabs-head-0f4c005": "awslabs-head-0f4c005",
}

Records = Mapping[str, tuple[int, ...]]
"""Indices of records by shard id."""


def shard_id(number: int | str) -> str:
    """The name of a shard."""
    return f"shardId-{int(number):012d}"


@dataclass(slots=True)
class Shape:
    """A copy of a golden checkpoint with its stream. ``truth`` is its ``<s>.json``."""

    root: Path
    release: str
    truth: dict[str, Any]
    options: Options
    fake: FakeKinesis
    key: str = "0"
    sink: Sink | None = None

    @property
    def newest(self) -> int:
        """The highest batch in offsets/."""
        return max(int(path.name) for path in self.offsets.iterdir() if path.name.isdigit())

    @property
    def offsets(self) -> Path:
        """The folder of the offset log."""
        return self.root / "offsets"

    @property
    def family(self) -> str:
        """Whose connector it is."""
        return RELEASES[self.release].family

    def log(self, batch: int) -> Path:
        """The folder of the connector's log of a batch."""
        return self.root / "sources" / self.key / FOLDERS[self.family] / str(batch)

    def read(self, batch: int) -> Logged:
        """One offset log."""
        return logged((self.offsets / str(batch)).read_text(encoding="utf-8"))

    def repair(self) -> dict[str, Position]:
        """The positions that were proven on the connector."""
        wanted = self.truth["repair"]["shards"]
        return {shard_id(n): Position(shard_id(n), kind, at) for n, (kind, at) in wanted.items()}

    def line(self, batch_id: int, places: Mapping[str, Position], *, sort: bool = False) -> str:
        """An offset line in the connector's own order of keys, or in the alphabet's."""
        offset = Offset(batch_id, self.truth["stream"], dict(places))
        text = offset.text(self.family, RELEASES[self.release].scala)
        return json.dumps(json.loads(text), separators=(",", ":"), sort_keys=True) if sort else text

    def write(self, batch: int, line: str, metadata: str | None = None) -> None:
        """Put an offset log, line 2 copied from the newest one unless given."""
        whole = self.read(self.newest).with_line(self.key, line)
        if metadata is not None:
            whole = replace(whole, metadata=metadata)
        put(self.offsets / str(batch), whole.text())

    def append(
        self,
        places: Mapping[str, Position] | None = None,
        *,
        batch_id: int | None = None,
        metadata: str | None = None,
        sort: bool = False,
    ) -> int:
        """The recommended repair: an uncommitted batch N+1; its id."""
        batch = self.newest + 1
        named = batch if batch_id is None else batch_id
        self.write(batch, self.line(named, places or self.repair(), sort=sort), metadata)
        return batch

    def in_place(self, *, wipe: bool) -> None:
        """The repair of an uncommitted newest batch."""
        self.write(self.newest, self.line(self.newest, self.repair()))
        if wipe:
            rmtree(self.log(self.newest))

    def enter(self, batch: int, places: Iterable[Position]) -> None:
        """Write entries of the connector's log."""
        for position in places:
            put(self.log(batch) / position.shard, entry_text(position, self.family))

    def drop(self, batch: int) -> None:
        """Delete an offset log and its checksum."""
        remove(self.offsets / str(batch))

    def start(self, triggers: int | None = None) -> Run:
        """Restart the query."""
        name = self.truth["stream"]
        return run(
            self.fake,
            name,
            self.root,
            self.release,
            self.options,
            key=self.key,
            triggers=triggers,
            sink=self.sink,
        )

    def told(self, *runs: Run) -> str:
        """The outcome of these starts, in the words of the tables."""
        return outcome(runs, self.due(), self.committed())

    def committed(self) -> Records:
        """What earlier batches had delivered."""
        return {shard_id(n): tuple(found) for n, found in self.truth["committed"].items()}

    def due(self) -> Records:
        """What the proven positions owe, less what had been delivered before."""
        found: dict[str, tuple[int, ...]] = {}
        for shard, position in self.repair().items():
            held = self.fake.stream(self.truth["stream"]).shards[int(shard[8:])].records
            after = int(position.value) if position.value else -1
            unread = {_index(r.payload.decode()) for r in held if r.number > after}
            found[shard] = tuple(sorted(unread - set(self.committed().get(shard, ()))))
        return found


def shape(
    scenario: str,
    release: str,
    to: Path,
    *,
    folder: str | None = None,
    end_with_last_records: bool = True,
) -> Shape:
    """A copy of a golden checkpoint below ``to``, and its stream as it was then."""
    golden = GOLDEN / (folder or FOLDER_OF[release])
    copytree(golden / scenario, root := to / scenario)
    truth = json.loads((golden / f"{scenario}.json").read_text(encoding="utf-8"))
    tables = [{k: v for k, v in one.items() if v is not None} for one in truth["streams"]]
    settings = Settings(end_with_last_records=end_with_last_records)
    fake = load_topology(tables, settings=settings)
    options = Options(starting=truth["options"]["startingPosition"])
    return Shape(root, release, truth, options, fake)


def outcome(runs: Iterable[Run], due: Records, committed: Records) -> str:
    """Rows of each batch, and what is missing or too many: "6+6 rows, LOST s0:4-9"."""
    runs = list(runs)
    sizes = [size for one in runs for size in one.sizes]
    if runs[-1].died:
        return f"{'+'.join(map(str, sizes))} rows, then dies" if sizes else "DIES"
    got: dict[str, list[int]] = {}
    for one in runs:
        for shard, payloads in one.delivered.items():
            got.setdefault(shard, []).extend(map(_index, payloads))
    told = [f"{'+'.join(map(str, sizes or [0]))} rows"]
    told += _named("LOST", {s: set(unread) - set(got.get(s, ())) for s, unread in due.items()})
    told += _named("TWICE", {s: {i for i in seen if seen.count(i) > 1} for s, seen in got.items()})
    told += _named("re-read", {s: set(seen) & set(committed.get(s, ())) for s, seen in got.items()})
    return ", ".join(told if len(told) > 1 else [*told, "ok"])


def _named(word: str, found: Mapping[str, set[int]]) -> list[str]:
    parts = [
        f"s{int(shard[8:])}:{first}" + (f"-{last}" if last > first else "")
        for shard in sorted(found)
        for first, last in _ranges(sorted(found[shard]))
    ]
    return [f"{word} {', '.join(parts)}"] if parts else []


def _ranges(indices: list[int]) -> list[tuple[int, int]]:
    groups = groupby(enumerate(indices), key=lambda one: one[1] - one[0])
    runs = [[index for _, index in group] for _, group in groups]
    return [(one[0], one[-1]) for one in runs]


def _index(payload: str) -> int:
    return int(payload.partition("-")[2])
