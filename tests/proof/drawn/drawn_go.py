"""Stores of the Go libraries: what the reference consumers leave when they stop, then damaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cache
from random import Random
from typing import Any

from reshardctl.model import decode
from reshardctl.model.times import instant
from reshardctl.testing import FakeKinesis, load_topology
from tests.proof.drawn.damages import (
    COMMON,
    Damage,
    Forged,
    Value,
    World,
    come_home,
)
from tests.proof.drawn.later import copied, harmed, hostile, twin
from tests.proof.drawn.states import Rows, State, Stream, as_of, spelled_out
from tests.proof.exhaustive.histories import random_stream
from tests.proof.reference import kinesis_consumer as kinesis_consumer_reference
from tests.proof.reference import kinesis_consumer_telegraf as telegraf_reference
from tests.proof.reference import kinsumer as kinsumer_reference
from tests.proof.reference.kinesis_consumer import stored
from tests.support.case import Case
from tests.support.case_stream import filled, shard_name

KEYS = {"checkpoints": "Shard", "clients": "ID", "metadata": "Key"}
QUIET = 3600
"""Seconds for which nothing has touched the store."""


class KinsumerShape:
    """`SequenceNumber` of a row of checkpoints."""

    marks = ("LATEST", "LATEST", "TRIM_HORIZON", "", "SHARD_END", "AT_TIMESTAMP", "0")
    apart = frozenset(KEYS.values())

    def shards(self, rows: Rows) -> dict[str, str]:
        return {k: k.partition("/")[2] for k in rows if k.startswith("checkpoints/")}

    def position(self, row: Mapping[str, Any]) -> Value | None:
        return row.get("SequenceNumber")

    def place(self, row: dict[str, Any], value: Value | None) -> None:
        row.pop("SequenceNumber", None)
        if value is not None:
            row["SequenceNumber"] = value


class ConsumerShape:
    """`sequence_number` of an item."""

    marks = ("LATEST", "TRIM_HORIZON", "", "SHARD_END", "0", "null")
    apart = frozenset({"namespace", "shard_id"})

    def shards(self, rows: Rows) -> dict[str, str]:
        return {k: k.partition("/")[2] for k in rows}

    def position(self, row: Mapping[str, Any]) -> Value | None:
        return row.get("sequence_number")

    def place(self, row: dict[str, Any], value: Value | None) -> None:
        row.pop("sequence_number", None)
        if value is not None:
            row["sequence_number"] = value


def future(rng: Random, rows: Rows, world: World) -> Forged:
    """LastUpdate by another clock, or in another unit."""
    keys = sorted(k for k, row in rows.items() if "LastUpdate" in row)
    if keys:
        row = rows[rng.choice(keys)]
        now = world.case.now
        row["LastUpdate"] = {"N": str(rng.choice((
            (now + 7 * 86_400) * 10**9, (now + 400 * 86_400) * 10**9, now * 10**12, now * 10**6,
            now * 1000, now, -1, 0,
        )))}
    return ()


def held_by_a_dead(rng: Random, rows: Rows, world: World) -> Forged:
    """An owner that did not let go: killed, or by a clock that ran ahead."""
    keys = world.keys(rows)
    if keys:
        row = rows[rng.choice(keys)]
        ahead = rng.choice((-7200, -7200, 86_400))
        row["OwnerID"] = {"S": "8f6a4b52-dead-4a62-9e0e-3d1f6a1c0a11"}
        row["OwnerName"] = {"S": "judged"}
        row["LastUpdate"] = {"N": str((world.case.now + ahead) * 10**9)}
    return ()


def killed(rng: Random, rows: Rows, world: World) -> Forged:
    """Client and leader rows that a killed process left."""
    at = world.case.now + rng.choice((-7200, -7200, 86_400))
    stamps = {"Name": {"S": "judged"}, "LastUpdate": {"N": str(at * 10**9)},
              "LastUpdateRFC": {"S": _rfc(at)}}
    name = rng.choice(("00000000-dead", "ffffffff-dead"))
    rows[f"clients/{name}"] = {"ID": {"S": name}, **stamps}
    if rng.random() < 0.5:
        rows["metadata/Leader"] = {"Key": {"S": "Leader"}, "ID": {"S": name}, **stamps}
    return ()


def copied_alive(rng: Random, rows: Rows, world: World) -> Forged:
    """A blue/green copy that was taken while the other colour ran: its owners and its leader."""
    at = world.case.now - rng.choice((QUIET, 1200))
    stamps = {"LastUpdate": {"N": str(at * 10**9)}, "LastUpdateRFC": {"S": _rfc(at)}}
    for key in world.keys(rows):
        if "N" not in rows[key].get("Finished", {}):
            rows[key] |= {"OwnerID": {"S": "blue"}, "OwnerName": {"S": "blue"}, **stamps}
    rows["clients/blue"] = {"ID": {"S": "blue"}, "Name": {"S": "blue"}, **stamps}
    leader = {"Key": {"S": "Leader"}, "ID": {"S": "blue"}, "Name": {"S": "blue"}, **stamps}
    rows["metadata/Leader"] = leader
    return ()


def cache_changed(rng: Random, rows: Rows, world: World) -> Forged:
    """The list of shards is of another moment, or gone."""
    row = rows.get("metadata/ShardCache")
    if row is None or rng.random() < 0.2:
        rows.pop("metadata/ShardCache", None)
        return ()
    every = sorted(world.case.topology)
    chosen = rng.sample(every, rng.randrange(len(every) + 1))
    if rng.random() < 0.2:
        chosen.append(max(every) + 1)
    row["ShardIDs"] = {"L": [{"S": shard_name(s)} for s in sorted(chosen)]}
    return ()


def finish(rng: Random, rows: Rows, world: World) -> Forged:
    """A shard is marked as finished by hand, or no longer."""
    if keys := world.keys(rows):
        key = rng.choice(keys)
        done = "N" in rows[key].get("Finished", {})
        value = {"NULL": True} if done else {"N": str((world.case.now - QUIET) * 10**9)}
        rows[key]["Finished"] = value
        return () if done else (world.shape.shards(rows)[key],)
    return ()


def renamed(rng: Random, rows: Rows, _world: World) -> Forged:
    """The application was renamed half-way: some rows are of the old name, beside new ones."""
    for key in sorted(rows):
        if rng.random() < 0.4:
            row = rows.pop(key)
            space = "old-" + row["namespace"]["S"]
            rows[f"{space}/{row['shard_id']['S']}"] = row | {"namespace": {"S": space}}
    return ()


def stranger(rng: Random, rows: Rows, world: World) -> Forged:
    """A row of another kind lies among the positions: a copy under a key that is no shard's."""
    if keys := world.keys(rows):
        key = rng.choice(keys)
        table, _, shard = key.partition("/")
        name = f"{rng.choice(('bak:', 'old-', 'x'))}{shard}"
        copied = {n: dict(v) for n, v in rows[key].items()}
        copied["Shard" if "Shard" in copied else "shard_id"] = {"S": name}
        if "LastUpdate" in copied and rng.random() < 0.3:
            copied["LastUpdate"] = {"S": "yesterday"}
        rows[f"{table}/{name}"] = copied
    return ()


def bound(rng: Random, rows: Rows, world: World) -> Forged:
    """A place was edited to the shard's own first or last number."""
    if keys := world.keys(rows):
        key = rng.choice(keys)
        shard = world.shape.shards(rows)[key]
        own = world.case.topology[int(shard[-12:])]
        word = rng.choice((own.start, own.end or own.start))
        world.shape.place(rows[key], {"S": word})
        return (shard,) if word == own.end else ()
    return ()


KINSUMER: dict[str, tuple[Damage, float]] = {
    **COMMON,
    "another clock": (future, 3), "a dead owner": (held_by_a_dead, 2), "killed": (killed, 1.5),
    "the shard cache changed": (cache_changed, 3), "finished by hand": (finish, 2),
    "a row of another kind": (stranger, 2),
}
CONSUMER: dict[str, tuple[Damage, float]] = {
    **COMMON, "renamed": (renamed, 1), "a row of another kind": (stranger, 2),
}
LATER_KINSUMER: dict[str, tuple[Damage, float]] = {
    "a twin's rows": (twin, 2), "hostile": (hostile, 2), "copied while it ran": (copied_alive, 2),
}
LATER_CONSUMER: dict[str, tuple[Damage, float]] = {
    "a twin's rows": (twin, 2), "hostile": (hostile, 2),
    "a copy beside": (copied("green-orders", "namespace"), 1),
    "a copy with a longer name": (copied("app-orders-green", "namespace"), 1),
}
LATER_NUMBERS = {name: way for name, way in LATER_CONSUMER.items() if name != "hostile"}
"""A column of numbers holds no text."""
TYPED = ("restored from CSV", "another type", "an attribute missing", "mistyped", "edited")
NUMBERS = {name: way for name, way in COMMON.items() if name not in TYPED} | {
    "set to a bound": (bound, 3),
}
"""What can befall a store of numbers that has a type of its own."""


def kinsumer(seed: int, created: int, release: str, family: str,
             only: Sequence[int] | None = None) -> State:
    """The state of this seed. release: snowplow-1.7, snowplow-1.6 or twitch."""
    rng = Random(f"kinsumer {release} {seed}")
    stream, moments = _history(rng, created)
    lags = rng.random() < 0.4
    tables: dict[str, list[Any]] = {}
    read: dict[str, set[str]] = {}
    stages: list[Rows] = []
    for moment in moments:
        run = kinsumer_reference.run(
            _fake(stream, moment), "orders", tables, "TRIM_HORIZON", release)
        tables = run.tables
        for shard, payloads in run.delivered.items():
            read.setdefault(shard, set()).update(payloads)
        stages.append(_kinsumer_rows(tables, created + stream["now"] - QUIET))
    honest = stages[-1] if stages else {}
    world = World(_case(stream), KinsumerShape(), stages[:-1])
    behind: frozenset[str] = frozenset()
    if lags:
        honest, behind = _lagging(rng, honest, world, read)
    name = f"damage {release} {seed}"
    rows, damages, forged = harmed(rng, name, honest, world, KINSUMER, LATER_KINSUMER, only)
    if any("restored" in name for name in damages):
        forged |= behind  # the backup is of a client that was not behind
    options = {"initial": "TRIM_HORIZON", "release": release}
    kept = {shard: frozenset(done) for shard, done in read.items()}
    forged |= come_home(world.case, rows, "SequenceNumber", kept)
    return State(family, seed, "kinsumer", stream, rows, options, kept, damages, honest, forged)


def consumer(seed: int, created: int, release: str, family: str,
             only: Sequence[int] | None = None, store: str = "ddb", by_time: bool = False) -> State:
    """The state of this seed, of v0.5.0, its master or Telegraf, in one of the four stores.

    by_time: the application is started at a moment of the stream's life, then again there, or at
    another one.
    """
    drawn = [f"kinesis-consumer {release} {seed}", *([store] if store != "ddb" else [])]
    rng = Random(" ".join([*drawn, *(["by time"] if by_time else [])]))
    stream, moments = _history(rng, created)
    initial = rng.choice(("TRIM_HORIZON", "TRIM_HORIZON", "LATEST"))
    telegraf = release.startswith("telegraf")
    model = telegraf_reference if telegraf else kinesis_consumer_reference
    since = round(created + moments[0] * rng.random())
    late = initial == "LATEST" and not telegraf
    played = f"AT_TIMESTAMP:{since}" if late or by_time else "TRIM_HORIZON"  # it had what came
    if by_time:
        then = since if rng.random() < 0.6 else round(created + stream["now"] * rng.random())
        then = min(then, created + int(stream["now"]))  # the tool allows for clocks that differ
        initial = f"AT_TIMESTAMP:{instant(then)}"
    numbers: dict[str, str] = {}
    read: dict[str, set[str]] = {}
    stages: list[Rows] = []
    for moment in moments:
        run = model.run(_fake(stream, moment), "orders", numbers, played, release)
        numbers = dict(run.rows)
        for shard, payloads in run.delivered.items():
            read.setdefault(shard, set()).update(payloads)
        stages.append(_consumer_rows(numbers))
    honest = stages[-1] if stages else {}
    world = World(_case(stream), ConsumerShape(), stages[:-1])
    ways = CONSUMER if store == "ddb" else NUMBERS
    name = release if store == "ddb" else f"{release} {store}"
    name += " by time" if by_time else ""
    name = f"damage {name} {seed}"
    later = LATER_NUMBERS if store in ("postgres", "mysql") else LATER_CONSUMER
    rows, damages, forged = harmed(rng, name, honest, world, ways, later, only)
    options = {"initial": initial, "release": release, "app": "app"}
    kept = {shard: frozenset(done) for shard, done in read.items()}
    forged |= come_home(world.case, rows, "sequence_number", kept)
    own = (row for key, row in rows.items() if key.startswith("app-orders/"))
    texts = [str(row.get("sequence_number", {}).get("S")) for row in own]
    if by_time and not any(map(decode, texts)):  # nothing tells when it ran
        forged |= frozenset(kept)
    return State(
        family, seed, "kinesis-consumer", stream, rows, options, kept, damages, honest, forged)


def start_kinsumer(state: State, rows: Rows) -> Any:
    """The reference's next start."""
    tables: dict[str, list[Any]] = {name: [] for name in KEYS}
    for key, row in rows.items():
        tables[key.partition("/")[0]].append(row)
    fake = load_topology(state.case.stream)
    return kinsumer_reference.run(
        fake, "orders", tables, state.initial, state.release, _live(state.case, fake))


def start_consumer(state: State, rows: Rows) -> Any:
    """The reference's next start."""
    store = "telegraf" if state.release.startswith("telegraf") else "ddb"
    numbers = {
        key.removeprefix("app-orders/"): stored(row, store)
        for key, row in rows.items() if key.startswith("app-orders/")
    }
    fake = load_topology(state.case.stream)
    telegraf = state.release.startswith("telegraf")
    model = telegraf_reference if telegraf else kinesis_consumer_reference
    return model.run(
        fake, "orders", numbers, state.starting, state.release, _live(state.case, fake))


def left_by_kinsumer(_rows: Rows, run: Any) -> Rows:
    """The three tables after a start of the reference."""
    return {
        f"{table}/{item[KEYS[table]]['S']}": {name: dict(value) for name, value in item.items()}
        for table, items in run.tables.items() for item in items
    }


def left_by_consumer(rows: Rows, run: Any) -> Rows:
    """The rows after a start of the reference: the numbers that it wrote, and all others."""
    written = _consumer_rows(run.rows)
    return rows | {key: row for key, row in written.items() if _moved(rows.get(key), row)}


def _moved(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> bool:
    return before is None or stored(before) != stored(after)


def _live(case: Case, fake: FakeKinesis) -> Any:
    def put() -> None:
        for shard in case.live.shards:
            for index in range(case.live.n):
                fake.put(case.stream["name"], shard, f"n{shard}-{index}", f"k{shard}")

    return put


def _history(
    rng: Random, created: int, stops: Sequence[int] = (1, 2, 2, 3), since: int = 3
) -> tuple[Stream, list[int]]:
    """A stream, and the moments at which the application stopped, as many as one of `stops`, after
    a `since`-th of the stream's life."""
    stream = spelled_out(_drawn(rng.randrange(2**32)), created)
    last = max([s.get("close", 0) for s in stream["shards"]] + [
        r["t"] for s in stream["shards"] for r in s.get("records", [])])
    count = rng.choice(stops)
    moments = sorted(rng.randrange(last // since + 1, last + 60) for _ in range(count))
    # A shard closes in the second before its children are born.
    closes = {s["close"] for s in stream["shards"] if "close" in s}
    return stream, [m + 3 if {m - 1, m, m + 1} & closes else m for m in moments]


@cache
def _drawn(seed: int) -> Stream:
    return random_stream(Random(seed))


def _fake(stream: Stream, moment: int) -> FakeKinesis:
    return load_topology(filled(as_of(stream, moment)))


def _case(stream: Stream) -> Case:
    return State("", 0, "kinsumer", stream, {}, {"release": ""}, {}, (), {}).case


def _lagging(rng: Random, rows: Rows, world: World, read: dict[str, set[str]]
             ) -> tuple[Rows, frozenset[str]]:
    """One shard is behind: its client was stopped in the middle of it."""
    found = {key: dict(row) for key, row in rows.items()}
    keys = [k for k in world.keys(rows) if len(world.records(k.partition("/")[2])) > 1]
    if not keys:
        return found, frozenset()
    key = rng.choice(keys)
    shard = key.partition("/")[2]
    held = world.case.records[shard]
    place = rng.randrange(len(held) - 1)
    if held[place][1] not in read.get(shard, ()):
        return found, frozenset()
    found[key] |= {"SequenceNumber": {"S": held[place][0]}, "Finished": {"NULL": True},
                   "FinishedRFC": {"NULL": True}}
    read[shard] = {p for _, p, _ in held[: place + 1]} & read[shard]
    cached = found.get("metadata/ShardCache")
    if cached is not None and {"S": shard} not in cached["ShardIDs"]["L"]:
        ids = sorted(one["S"] for one in [*cached["ShardIDs"]["L"], {"S": shard}])
        found["metadata/ShardCache"] = {**cached, "ShardIDs": {"L": [{"S": i} for i in ids]}}
    return found, frozenset({shard})


def _kinsumer_rows(tables: Mapping[str, list[Any]], until: int) -> Rows:
    """By key; nothing is younger than that moment."""
    found: Rows = {}
    for table, items in tables.items():
        for item in items:
            row = {name: dict(value) for name, value in item.items()}
            for name in ("LastUpdate", "Finished"):
                stamp = row.get(name, {}).get("N")
                if stamp is not None and int(stamp) > until * 10**9:
                    row[name] = {"N": str(until * 10**9 - (name == "Finished") * 10**9)}
                    row[f"{name}RFC"] = {"S": _rfc(until)}
            found[f"{table}/{item[KEYS[table]]['S']}"] = row
    return found


def _consumer_rows(numbers: Mapping[str, str]) -> Rows:
    space = "app-orders"
    return {
        f"{space}/{shard}": {
            "namespace": {"S": space}, "shard_id": {"S": shard}, "sequence_number": {"S": text},
        }
        for shard, text in numbers.items() if text
    }


def _rfc(seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(int(seconds), UTC))

