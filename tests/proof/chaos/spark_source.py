"""The project's own Spark source in chaos: a query with a checkpoint, what befalls it, how it runs.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from tests.proof.chaos.proxy import doors, variables
from tests.proof.chaos.stored import Folder
from tests.proof.chaos.world import STARTS, STREAM, World
from tests.proof.drawn.states import Rows
from tests.proof.exhaustive.spark_damage import WAYS
from tests.proof.exhaustive.spark_damage import Damage as OfFiles
from tests.proof.libraries.spark.soak.life import Life as Process
from tests.proof.libraries.spark.soak.scenes import Source
from tests.proof.reference.spark_files import DiedError, logged, numbered, put

RELEASES = "4.0", "4"
"""Of PySpark, as tests/proof/libraries/spark/environments makes them."""
SOURCE = Source(columns=("CAST(data AS STRING) AS data",))
STILL_SECONDS, BEGIN_SECONDS, PATIENCE_SECONDS = 10.0, 40.0, 150.0
"""Without a new file of the sink after a batch was committed; until the first commit of a start;
in all."""
STOP_SECONDS = 60.0
CONNECT_BACK = "failed to connect back"
"""Spark gave the source's Python process too little time: start it again (docs/source.md)."""


class SparkSource:
    """A query that reads with kinesis-lineage, and writes each batch to a file of its own."""

    apart: frozenset[str] = frozenset()
    first_seconds = 90.0
    live = False

    def __init__(self, tables: str, world: World, kinesis: str, folder: Path) -> None:
        """tables: the address of the DynamoDB in which `discover` looks for tables."""
        dice = world.dice
        self.world, self.folder = world, folder
        self.checkpoint, self.sink = folder / "checkpoint", folder / "sink"
        self.sink.mkdir()
        self.release, self.start = dice.choice(RELEASES), dice.choice(STARTS)
        self.name = f"spark-source-{self.release}"
        fails = dice.choice(("true", "false"))
        self.options = {"startingPosition": self.start, "failOnDataLoss": fails}
        words = "&".join(f"{name}={value}" for name, value in self.options.items())
        self.locator = f"spark:{self.checkpoint}?release={SOURCE.format}&sink=other&{words}"
        self.doors = doors(dice, kinesis, tables)
        self.variables = variables(self.doors)
        self.starts = 0
        self._files = Folder(self.checkpoint)

    def rows(self) -> Rows:
        return self._files.rows()

    def put(self, rows: Rows) -> None:
        self._files.put(rows)

    def begin(self, *, alone: bool) -> SparkLife:  # noqa: ARG002 - it always is
        self.starts += 1
        return SparkLife(self)

    def read(self, rows: Rows) -> dict[str, float]:
        """Up to which number each shard was read, as the newest committed batch says. A number of
        another shard says nothing, nor does a mark of an end in an open one."""
        records, closed = self.world.case().records, self.world.closed()
        batches = [int(path.name) for path in map(Path, rows)
                   if path.parent.name == "commits" and path.name.isdigit()]
        line = rows.get(f"offsets/{max(batches, default=-1)}")
        found = dict[str, float]()
        for shard, entry in _shards(line["bytes"]["S"] if line else "").items():
            if entry["end"] and shard in closed:
                found[shard] = math.inf
            elif entry["seq"] in {number for number, *_ in records.get(shard, ())}:
                found[shard] = int(entry["seq"])
        return found

    def harmed(
        self, name: str, rows: Rows, backups: list[Rows]
    ) -> tuple[Rows, tuple[str, ...]]:
        """The files after one or two damages, and their names; the ledger learns what is forged."""
        dice, names = Random(name), []
        with TemporaryDirectory() as scratch:
            files = Folder(root := Path(scratch))
            files.put(rows)
            ways = MILD if dice.random() < 0.7 else sorted(HARMS)
            for _ in range(dice.choice((1, 1, 2))):
                way = dice.choice(ways)
                if way == "restored":
                    files.put(dice.choice(backups))
                elif numbered(root / "offsets"):
                    HARMS[way](_Harm(root, dice, self.world))
                names.append(way)
            return files.rows(), tuple(names)

    def passed_over(self, since: dict[str, int]) -> None:
        """The first batch of a query that starts at the tip notes where it begins. What lies before
        is skipped on purpose; later on, where the checkpoint is lost, what came after the report
        that the operator has read. since: the last record of each shard by then."""
        first, skips = self.checkpoint / "offsets" / "0", self.world.ledger.skips
        if self.start != "LATEST" or not first.exists():
            return
        for shard, entry in _shards(first.read_text(encoding="utf-8")).items():
            until: Any = {"at": "number", "number": entry["seq"] or "0"}
            skip = {
                "harm": "skipped", "shard": shard,
                "since": _number(since[shard]) if shard in since else {"at": "start"},
                "until": {"at": "done"} if entry["end"] else until,
            }
            if skip not in skips:
                skips.append(skip)


class _Harm(OfFiles):
    """More of what befalls a checkpoint: what people do to its newest line, and broken files."""

    def __init__(self, root: Path, dice: Random, world: World) -> None:
        super().__init__(root, dice)
        self._world = world

    def drop_shard(self) -> None:
        """The newest offset does not name one shard any more."""
        if shards := self._shards():
            del shards[self._rng.choice(sorted(shards))]
            self._write(shards)

    def move_back(self) -> None:
        """The newest offset names an earlier place of one shard, or its beginning."""
        shards = self._shards()
        if not shards:
            return
        shard = self._rng.choice(sorted(shards))
        place = math.inf if shards[shard]["end"] else int(shards[shard]["seq"] or 0)
        earlier = [number for number in self._numbers(shard) if int(number) < place]
        shards[shard] = {"seq": self._rng.choice(["", *earlier]), "end": False}
        self._write(shards)

    def move_on(self) -> None:
        """The newest offset names a later place of one shard, which nothing tells from an honest
        one."""
        shards = {shard: int(entry["seq"] or 0) for shard, entry in self._shards().items()
                  if not entry["end"]}
        later = {shard: numbers for shard, place in shards.items()
                 if (numbers := [n for n in self._numbers(shard) if int(n) > place])}
        if not later:
            return
        shard = self._rng.choice(sorted(later))
        closed = shard in self._world.closed()
        entry = {"seq": self._rng.choice(later[shard]), "end": closed and self._rng.random() < 0.5}
        self._write({**self._shards(), shard: entry})
        self._world.ledger.forged.append((shard, self._world.fake.clock.now()))

    def foreign_number(self) -> None:
        """One shard has the number of another's record."""
        shards = self._shards()
        shard = self._rng.choice(sorted(shards) or [""])
        held = self._world.case().records.items()
        others = sorted(number for other, records in held if other != shard
                        for number, *_ in records)
        if shard and others:
            shards[shard] = {**shards[shard], "seq": self._rng.choice(others)}
            self._write(shards)

    def end_open(self) -> None:
        """An open shard is marked as read to its end, which nothing tells from an honest mark once
        it is closed."""
        closed, shards = self._world.closed(), self._shards()
        if still_open := sorted(shards.keys() - closed):
            shard = self._rng.choice(still_open)
            shards[shard] = {**shards[shard], "end": True}
            self._write(shards)
            self._world.ledger.forged.append((shard, math.inf))

    def break_one(self) -> None:
        """One file is cut in half, or empty."""
        path = self._rng.choice(self._files())
        content = path.read_bytes()
        path.write_bytes(content[: self._rng.choice((0, len(content) // 2))])

    def stale_checksum(self) -> None:
        """One file has the checksum of another content."""
        path = self._rng.choice(self._files())
        before = path.read_bytes()
        put(path, "something else")
        path.write_bytes(before)

    def _files(self) -> list[Path]:
        found = (path for path in sorted(self._root.rglob("*")) if path.is_file())
        return [path for path in found if not path.name.startswith(".")]

    def _numbers(self, shard: str) -> list[str]:
        return [number for number, *_ in self._world.case().records.get(shard, ())]

    def _shards(self) -> dict[str, Any]:
        return _shards((self._root / "offsets" / str(self._newest)).read_text(encoding="utf-8"))

    def _write(self, shards: dict[str, Any]) -> None:
        """By hand: Spark's checksum is of what was there before, or of what is there now."""
        path = self._root / "offsets" / str(self._newest)
        log = logged(path.read_text(encoding="utf-8"))
        ((key, line),) = log.lines.items()
        text = log.with_line(key, json.dumps({**json.loads(line or "{}"), "shards": shards})).text()
        if self._rng.random() < 0.5:
            put(path, text)
        else:
            path.write_text(text, encoding="utf-8")


HARMS: dict[str, Callable[[_Harm], None]] = {
    **{name: WAYS[name] for name in (
        "uncommit", "roll_back", "unplan", "cut_off", "empty_log", "reformat", "get_ahead",
        "unplan_before", "copy_aside", "orphan", "no_checksums",
    )},
    "restored": lambda _: None,
    **{name: way for name, way in vars(_Harm).items() if not name.startswith("_")},
}
"""Those of WAYS that befall a checkpoint without a connector's log, and do not kill the JVM. What
is restored comes from a backup."""
MILD = [
    "restored", "uncommit", "roll_back", "no_checksums", "stale_checksum", "drop_shard",
    "move_back", "move_on", "foreign_number", "foreign_number", "end_open", "end_open",
]
"""What a query starts after, as a rule."""


class SparkLife:
    """One start of the query, in a process of its own."""

    def __init__(self, system: SparkSource) -> None:
        self._system, self._over = system, ""
        self._since = _ends(system) if system.starts > 1 else {}
        self._anew = not numbered(system.checkpoint / "offsets")
        self._committed = self._newest()
        self._process = Process(system.release, SOURCE.register, system.folder / "spark.log")
        try:
            self._process.hears("ready")
        except AssertionError:
            self._process.kill()
            raise
        self._order()

    def settled(self, done: Callable[[], bool], longer: int = 1) -> bool:
        began = changed = time.monotonic()
        seen = self._seen()
        while (now := time.monotonic()) < began + PATIENCE_SECONDS * longer:
            self._note()
            if done() or self.over():
                return True
            if (fresh := self._seen()) != seen:
                seen, changed = fresh, now
            still = STILL_SECONDS if self._newest() != self._committed else BEGIN_SECONDS
            if now - changed > still * longer:
                return True
            time.sleep(0.2)
        return False

    def over(self) -> bool:
        for said in self._process.said():
            if said["is"] == "died" and CONNECT_BACK in said["why"]:
                self._order()
            elif said["is"] in ("died", "over", "gone"):
                self._over = str(said.get("why", said["is"]))
        return bool(self._over)

    def delivered(self) -> list[str]:
        return [payload for path in self._written() for (payload,) in json.loads(path.read_text())]

    def stop(self) -> None:
        try:
            if not self.over():
                self._process.order("stop")
                with suppress(AssertionError):  # it died meanwhile, or is killed now
                    self._process.hears("stopped", seconds=STOP_SECONDS)
        finally:
            self._process.close()
            self._note()

    def kill(self) -> None:
        self._process.kill()
        self._note()

    def _order(self) -> None:
        system = self._system
        options = {
            **dict(SOURCE.more), SOURCE.endpoint: system.doors[2].url, "streamName": STREAM,
            **system.options,
        }
        self._process.order(
            "start", number=system.starts, format=SOURCE.format, columns=SOURCE.columns,
            options=options, sink="batches", folder=str(system.sink),
            checkpoint=str(system.checkpoint), trigger={"processingTime": "0 seconds"},
        )

    def _note(self) -> None:
        if self._anew:
            self._system.passed_over(self._since)

    def _written(self) -> list[Path]:
        return sorted(self._system.sink.glob(f"*.{self._system.starts:04d}.json"))

    def _seen(self) -> tuple[int, int]:
        return len(self._written()), self._newest()

    def _newest(self) -> int:
        return max(numbered(self._system.checkpoint / "commits"), default=-1)


def _shards(text: str) -> dict[str, Any]:
    """The entries of an offset log of one source; none where it cannot be read."""
    try:
        (line,) = logged(text).lines.values()
        found: dict[str, Any] = json.loads(line or "{}")["shards"]
    except (DiedError, ValueError, KeyError):
        return {}
    return found


def _ends(system: SparkSource) -> dict[str, int]:
    """The last record of each shard until now."""
    ends: dict[str, int] = {}
    for record in system.world.ledger.puts.values():
        ends[record.shard] = max(record.number, ends.get(record.shard, 0))
    return ends


def _number(number: int) -> dict[str, str]:
    return {"at": "number", "number": str(number)}
