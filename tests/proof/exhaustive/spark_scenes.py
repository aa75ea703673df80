"""Spark queries left to themselves: a stream that splits and merges under a query of the reference
consumer, which is stopped, crashes in its sink, and is started again. The same seed gives the same.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from reshardctl.model import Image
from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.service import Settings
from reshardctl.testing.stream import Stream
from tests.proof.reference.spark import LINEAGE, Query, connector_of
from tests.proof.reference.spark_files import DiedError, numbered
from tests.proof.reference.spark_qubole import CrashedError
from tests.proof.reference.spark_release import KNOWN, RELEASES, Options
from tests.support.case import Case, Live, from_table

CREATED = 1_795_219_200
NAME = "orders"
HASHES = 2**128
ACTS = ("put", "put", "put", "reshard", "reshard", "session", "session", "crash", "crash", "expire")
MOST_ACTS = 9


@dataclass(frozen=True, slots=True)
class Scene:
    """How a checkpoint came to be, and what had been delivered by the time it was left.

    ``root``: the checkpoint. ``first``: when the query was first started, in epoch seconds.
    ``together``: whether a closed shard's end shows beside its last records.
    """

    seed: int
    release: str
    options: Options
    root: Path
    case: Case
    together: bool
    first: float
    delivered: dict[str, list[str]]
    acts: list[str]

    @property
    def locator(self) -> dict[str, str]:
        """The options of the locator that leave nothing open."""
        fails = self.release == LINEAGE or KNOWN[self.release].fails
        fails = fails if self.options.fails is None else self.options.fails
        polls = {"consumerType": "GetRecords"} if self.release.startswith("awslabs") else {}
        return {
            "release": self.release,
            "startingPosition": self.options.starting,
            "failOnDataLoss": str(fails).lower(),
            "sink": "other",
            **polls,
        }

    def owed(self) -> dict[str, set[str]]:
        """What still lies in the stream and was neither delivered nor passed by a delivery.

        A shard whose end is logged owes nothing: a start by time may have passed by all of it.
        """
        found: dict[str, set[str]] = {}
        ended = ended_in(self.root)
        for shard in self.case.topology.values():
            name = f"shardId-{shard.id:012d}"
            if not shard.listed or name in ended:
                continue
            done = self.delivered.get(name, [])
            order = [payload for _, payload, _ in shard.records]
            after = max((order.index(payload) for payload in done), default=-1)
            late = self.options.starting == "LATEST"
            since = self.first + (self.release == LINEAGE)  # it begins behind the last record
            found[name] = {
                payload
                for place, (_, payload, arrived) in enumerate(shard.records)
                if place > after and not (late and arrived < since)
            }
        return found

    def images(self) -> list[Image]:
        """The checkpoint as a medium shows it."""
        return images_of(self.root)

    @property
    def whole(self) -> bool:
        """Whether every batch that ever ran is still there."""
        return (self.root / "offsets" / "0").exists()


def with_live(drawn: Scene) -> Scene:
    """The same, with a record to come into every open shard once the query runs."""
    shards = tuple(shard.id for shard in drawn.case.topology.values() if not shard.end)
    return replace(drawn, case=replace(drawn.case, live=Live(shards, 1)))


def live_records(drawn: Scene) -> list[tuple[int, str]]:
    """What is still to come: the shard's number and the payload of each record."""
    live = drawn.case.live
    return [(shard, f"n{shard}-{place}") for shard in live.shards for place in range(live.n)]


def ended_in(root: Path) -> set[str]:
    """Shards that some committed batch ended."""
    done = set(numbered(root / "commits"))
    ends = {
        shard for number in done if (text := (root / "offsets" / str(number))).exists()
        for shard in _ends(text.read_text(encoding="utf-8").rpartition("\n")[2])
    }
    return ends | {
        path.name
        for path in root.glob("sources/0/*/*/shardId-*")
        if int(path.parent.name) in done and '"SHARD_END"' in path.read_text(encoding="utf-8")
    }


def _ends(line: str) -> set[str]:
    """Shards that an offset of the project's own source says are read to their ends."""
    try:
        shards = json.loads(line).get("shards", {}) if line.startswith("{") else {}
    except ValueError:  # cut off by a damage
        return set()
    return {name for name, mark in shards.items() if mark["end"]}


@dataclass(slots=True)
class _Play:
    """A scene in the making."""

    rng: Random
    fake: FakeKinesis
    root: Path
    release: str
    options: Options
    first: float = 0.0
    counts: dict[int, int] = field(default_factory=dict)
    delivered: dict[str, list[str]] = field(default_factory=dict)
    acts: list[str] = field(default_factory=list)

    @property
    def stream(self) -> Stream:
        """The stream as it is now."""
        return self.fake.stream(NAME)

    def put(self) -> None:
        """A few records into open shards."""
        for shard in [one for one in self.stream.shards.values() if one.closed is None]:
            for _ in range(self.rng.choice((0, 0, 1, 2, 3))):
                index = self.counts.get(shard.number, 0)
                self.counts[shard.number] = index + 1
                self.fake.clock.advance(1)
                self.fake.put(NAME, shard.number, f"s{shard.number}-{index}")

    def reshard(self) -> None:
        """Split an open shard, or merge two neighbours."""
        pieces = sorted(self.stream.open_pieces(), key=lambda piece: piece.low)
        client = self.fake.client()
        if len(pieces) > 1 and self.rng.random() < 0.4:
            at = self.rng.randrange(len(pieces) - 1)
            one, two = (f"shardId-{piece.number:012d}" for piece in pieces[at : at + 2])
            client.merge_shards(StreamName=NAME, ShardToMerge=one, AdjacentShardToMerge=two)
        else:
            piece = self.rng.choice(pieces)
            middle = str((piece.low + piece.high) // 2 + 1)
            name = f"shardId-{piece.number:012d}"
            client.split_shard(StreamName=NAME, ShardToSplit=name, NewStartingHashKey=middle)
        self.fake.settle()
        self.fake.clock.advance(3)

    def expire(self) -> None:
        """The oldest closed shards go."""
        shards = [one for one in self.stream.shards.values() if one.closed and not one.withdrawn]
        for shard in shards[: self.rng.randint(1, 3)]:
            self.fake.trim_shard(NAME, shard.number)

    def session(self, *, crashes: bool) -> None:
        """Start the query, let it run some triggers, and stop it or let its sink die."""
        self.first = self.first or self.fake.clock.now()
        connector = connector_of(self.fake, NAME, self.root, self.release, self.options)
        query = Query(self.root, connector, now=self.fake.clock.now)
        try:
            query.start()
            for _ in range(self.rng.choice((0, 0, 1, 3) if crashes else (1, 2, 4))):
                self.fake.clock.advance(2)
                self._deliver(query.trigger() or {})
                query.purge(self.options.retain)
                if self.rng.random() < 0.4:
                    self.put()
            if crashes:
                self.fake.clock.advance(2)
                tasks = self.rng.choice((None, 0, 1, 2))
                query.trigger(tasks, commits=tasks is not None)
        except (CrashedError, DiedError) as error:
            self.acts.append(type(error).__name__)

    def _deliver(self, rows: dict[str, list[str]]) -> None:
        for shard, payloads in rows.items():
            self.delivered.setdefault(shard, []).extend(payloads)


def scene(seed: int, to: Path, only: str = "") -> Scene:
    """The scene of this seed, its checkpoint below ``to``; of one release, if that is given."""
    rng = Random(f"spark {seed}")
    together = rng.random() < 0.5
    roots = rng.choice((1, 1, 2))
    shards = [{"id": i, "range": [f"{i}/{roots}", f"{i + 1}/{roots}"]} for i in range(roots)]
    table = {"name": NAME, "created": CREATED, "now": 60, "shards": shards}
    fake = load_topology(table, settings=Settings(end_with_last_records=together))
    drawn = rng.choice((*sorted(RELEASES), LINEAGE))
    release = only or drawn
    starting = rng.choice(("TRIM_HORIZON", "LATEST"))
    fails = rng.choice((None, None, False)) if release == LINEAGE else None
    options = Options(starting, fails, retain=rng.choice((100, 100, 2)))
    play = _Play(rng, fake, to / "checkpoint", release, options)
    play.put()
    if rng.random() < 0.2:
        play.reshard()
    play.session(crashes=False)
    for _ in range(rng.randint(1, MOST_ACTS)):
        act = rng.choice(ACTS)
        play.acts.append(act)
        fake.clock.advance(rng.randint(2, 60))
        if act in ("session", "crash"):
            play.session(crashes=act == "crash")
        else:
            getattr(play, act)()
    if rng.random() < 0.2:
        play.expire()
    case = case_of(play.stream, fake.clock.now(), release)
    return Scene(
        seed, release, options, play.root, case, together, play.first, play.delivered, play.acts
    )


def case_of(stream: Stream, now: float, release: str) -> Case:
    """The stream as a case file tells it; its rows are on the disk."""
    table = {
        "title": "a query left to itself",
        "source": "reference consumer",
        "consumer": "spark",
        "stream": {
            "name": NAME,
            "created": stream.created,
            "now": int(now) - stream.created + 1,
            "shards": [_shard(stream, number) for number in stream.order],
        },
        "query": {"connector": KNOWN[release].family if release in KNOWN else "lineage"},
        "batches": [{"id": 0, "line": {}}],
        "expect": [{"findings": []}],
    }
    return from_table(Path("sim.toml"), table)


def _shard(stream: Stream, number: int) -> dict[str, Any]:
    shard = stream.shards[number]
    table: dict[str, Any] = {
        "id": number,
        "range": [f"{shard.low}/{HASHES}", f"{shard.high + 1}/{HASHES}"],
        "parents": list(shard.parents),
        "open": int(shard.opened) - stream.created + bool(shard.parents),
        "records": [
            {"t": int(one.arrival) - stream.created, "data": one.payload.decode()}
            for one in shard.records
        ],
    }
    if shard.closed is not None:
        table["close"] = int(shard.closed) - stream.created
    if shard.withdrawn:
        table["trimmed"] = True
    return table


def images_of(root: Path) -> list[Image]:
    """Every file and folder below a directory, checksums with their files."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(root.rglob("*")):
        key = path.relative_to(root).as_posix()
        if path.is_dir():
            found[f"{key}/"] = {}
        elif path.name.startswith(".") and path.name.endswith(".crc"):
            owner = key.removesuffix(path.name) + path.name[1:-4]
            content = base64.b64encode(path.read_bytes()).decode()
            found.setdefault(owner, {})["crc"] = {"B": content}
        else:
            found.setdefault(key, {})["text"] = {"S": path.read_text(encoding="utf-8")}
    return [Image(key, dict(sorted(found[key].items()))) for key in sorted(found)]
