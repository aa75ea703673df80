"""A second application beside a running one: first positions at an earlier time, on each store.

The reference consumers, which know nothing of the package, play its first start: it has to deliver
each record that arrived at or after that time once, and no other, through a split and a merge.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reshardctl.model import Image
from reshardctl.model.times import instant
from reshardctl.testing import FakeKinesis, load_topology
from tests.cli.kinesis_consumer_lab import positions_lab
from tests.cli.kinsumer_lab import kinsumer_lab
from tests.cli.lab import Lab
from tests.cli.position_stores import StoreLab, store_lab
from tests.cli.quickwit_lab import golden_fake, quickwit_lab
from tests.cli.spark_lab import HEAD, QUBOLE, V1
from tests.cli.test_position_stores import KINDS, VARIABLE
from tests.proof.reference import kcl, kinesis_consumer, kinsumer, quickwit
from tests.proof.reference.spark import Query, connector_of
from tests.proof.reference.spark_release import Options
from tests.support.dialects import kinsumer as kinsumer_dialect
from tests.support.servers import PASSWORD
from tests.unit.spark.source import drive

CREATED = 1_795_232_267


def resharded() -> FakeKinesis:
    """0 was split into 2 and 3 at 600, 1 and 3 merged into 4 at 1800; 2 and 4 are open."""
    shards = [
        {"id": 0, "range": ["0", "1/2"], "close": 600, "records": {"n": 4, "from": 10, "to": 590}},
        {"id": 1, "range": ["1/2", "1"], "close": 1800, "records": {"n": 3, "from": 9, "to": 900}},
        {"id": 2, "range": ["0", "1/4"], "parents": [0], "open": 601,
         "records": {"n": 2, "from": 700, "to": 900}},
        {"id": 3, "range": ["1/4", "1/2"], "parents": [0], "open": 601, "close": 1800,
         "records": {"n": 2, "from": 700, "to": 900}},
        {"id": 4, "range": ["1/4", "1"], "parents": [1, 3], "open": 1801,
         "records": {"n": 3, "from": 2000, "to": 3000}},
    ]  # fmt: skip
    return load_topology({"name": "orders", "created": CREATED, "now": 3600, "shards": shards})


def arrived_since(fake: FakeKinesis, seconds: float) -> list[str]:
    held = fake.stream("orders").shards
    return sorted(
        record.payload.decode() for shard in held.values() for record in shard.records
        if record.arrival >= CREATED + seconds
    )


def policy(seconds: float) -> tuple[str, ...]:
    return ("--bootstrap", "--policy", f"at-timestamp={instant(CREATED + seconds)}")


@pytest.fixture
def base(base_of) -> Lab:
    return base_of(resharded())


Started = Callable[[Lab, str, str], list[str]]
"""(lab, release, initial position) → payloads that the reference consumer delivers."""


def by_kcl(lab: Lab, release: str, initial: str) -> list[str]:
    return kcl.run(resharded(), "orders", list(lab.items().values()), initial, release).order


def by_kinsumer(lab: Lab, release: str, initial: str) -> list[str]:
    images = [Image(key, item) for key, item in lab.items().items()]
    tables = kinsumer_dialect.tables(images)
    return kinsumer.run(resharded(), "orders", tables, initial, release).order


def by_kinesis_consumer(lab: Lab, release: str, initial: str) -> list[str]:
    if isinstance(lab, StoreLab):
        texts = dict(lab.numbers())
    else:
        texts = {key: kinesis_consumer.stored(item) for key, item in lab.items().items()}
    rows = {key.rpartition("/")[2]: text for key, text in texts.items()}
    return kinesis_consumer.run(resharded(), "orders", rows, initial, release).order


EARLY_LATE = ("TRIM_HORIZON", "LATEST")
TABLES: dict[str, tuple[Any, Started, str, tuple[str, ...], tuple[str, ...]]] = {
    "kcl": (None, by_kcl, "", kcl.RELEASES, EARLY_LATE),
    "kinsumer": (kinsumer_lab, by_kinsumer, "", kinsumer.RELEASES, ("TRIM_HORIZON",)),
    "kinesis-consumer": (
        positions_lab, by_kinesis_consumer, "?app=new&release=0.5", ("0.5.0",), EARLY_LATE,
    ),
    "kinesis-consumer-master": (
        positions_lab, by_kinesis_consumer, "?app=new&release=master&initial=TRIM_HORIZON",
        ("master-31e0042",), ("TRIM_HORIZON",),
    ),
}


@pytest.mark.parametrize("since", [500, 800, 2500])
@pytest.mark.parametrize("name", TABLES)
def test_it_delivers_what_arrived_since_and_nothing_else(base, entered, name, since):
    """Whichever release starts, and whatever its start position is."""
    make, started, options, releases, initials = TABLES[name]
    lab = base if make is None else entered.enter_context(make(base, []))
    lab.options = options
    done = lab.fix(*policy(since))
    assert done.code == 0, done.out + done.err
    for release in releases:
        for initial in initials:
            came = sorted(started(lab, release, initial))
            assert came == arrived_since(resharded(), since), (release, initial)
    assert lab.undo().code == 0
    assert not lab.items()


def wide() -> FakeKinesis:
    """34 shards were split: more rows than one transaction of DynamoDB takes."""
    number = 34
    shards: list[dict[str, Any]] = [
        {"id": i, "range": [f"{i}/{number}", f"{i + 1}/{number}"], "close": 600,
         "records": {"n": 2, "from": 10, "to": 590}} for i in range(number)
    ]
    shards += [
        {"id": number + i, "range": [f"{i}/{2 * number}", f"{i + 1}/{2 * number}"], "open": 601,
         "parents": [i // 2], "records": {"n": 2, "from": 700, "to": 1500}}
        for i in range(2 * number)
    ]
    return load_topology({"name": "orders", "created": CREATED, "now": 3600, "shards": shards})


@pytest.mark.parametrize(("name", "stream"), [
    ("kcl", resharded),
    *(pytest.param(name, wide, marks=pytest.mark.long) for name in sorted(TABLES)[1:]),
])  # fmt: skip
def test_one_that_was_interrupted_is_finished(base_of, entered, wire, name, stream):
    """The rows of its first steps do not count as read by the new application."""
    make, _, options, _, _ = TABLES[name]
    base = base_of(stream())
    lab = base if make is None else entered.enter_context(make(base, []))
    lab.options = options
    said = policy(500 if stream is resharded else 1000)
    assert lab.fix(*said).code == 0
    wanted, writes = lab.items(), [*wire.writes]
    assert len(writes) > 1 and lab.undo().code == 0 and not lab.items()
    lab.journal().unlink()
    wire.fail(writes[1], "AccessDeniedException", after=1)
    half = lab.fix(*said)
    assert half.code == 5 and f"half done: 1 of {len(writes)} steps" in half.err
    go_on = f"fix --resume {lab.journal()} --bootstrap"
    assert go_on in half.err, "the command goes on as it stands"
    assert "--bootstrap" in lab.cli("undo", "--list", "--format", "text").out
    wire.faults.clear()
    refused = lab.resume("--bootstrap")
    if refused.code == 4:  # what the policy skips was not asked for by this command
        assert "re-reads nothing" in refused.err and "--accept skip" in refused.err
        refused = lab.resume("--bootstrap", "--accept", "skip=all")
    assert refused.code == 0, refused.err
    assert lab.items() == wanted
    assert lab.undo().code == 0 and not lab.items()


@pytest.mark.parametrize("kind", KINDS)
def test_it_does_so_on_a_server(base, database, kind, monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE[kind], PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    with store_lab(base, kind, database(kind), []) as lab:
        lab.options = "?app=new&release=0.5&initial=TRIM_HORIZON"
        done = lab.fix(*policy(800))
        assert done.code == 0, done.out + done.err
        came = sorted(by_kinesis_consumer(lab, "0.5.0", "TRIM_HORIZON"))
        assert came == arrived_since(resharded(), 800)


def test_a_shard_that_is_read_although_it_is_passed_over_has_its_price(base, monkeypatch):
    """Where nothing tells the last record of a closed shard, v0.5.0 reads the shard whole."""
    monkeypatch.setattr("reshardctl.commands.survey.with_ends", lambda policy, *_: policy)
    with positions_lab(base, []) as lab:
        lab.options = "?app=new&release=0.5&initial=TRIM_HORIZON"
        refused = lab.fix(*policy(800), "--accept", "reread=1m")
        assert refused.code == 4 and not lab.items()
        assert "re-reads up to 11m of records" in refused.err
        assert lab.fix(*policy(800), "--accept", "reread=11m").code == 0
        came = by_kinesis_consumer(lab, "0.5.0", "TRIM_HORIZON")
        whole = [f"s0-{n}" for n in range(4)]
        assert sorted(came) == sorted([*arrived_since(resharded(), 800), *whole])


@pytest.mark.parametrize(("options", "words"), [
    ("?app=new", ("initial and release have to be known",)),
    ("?app=new&release=master&initial=LATEST", ("start it with TRIM_HORIZON", "instead of LATEST")),
])  # fmt: skip
def test_positions_that_are_wrong_for_some_reader_are_not_written(base, options, words):
    """master takes a row of a child as the end of its parents: runs, November 2026."""
    with positions_lab(base, []) as lab:
        lab.options = options
        refused = lab.fix(*policy(800))
        assert refused.code in (1, 4) and not lab.items()
        assert all(word in " ".join((refused.out + refused.err).split()) for word in words)


@pytest.mark.parametrize(("locator", "words"), [
    ("kcl://new", ("AttributeName=leaseKey", "KCL makes it itself")),
    ("kcl://new?release=3.5", ("LeaseOwnerToLeaseKeyIndex",)),
    ("kinsumer://new", ("new_checkpoints", "AttributeName=Shard",
                        "config tables kinsumer://new --table-region us-east-1")),
    ("kinesis-consumer+ddb://new?app=new", ("AttributeName=namespace", "AttributeName=shard_id")),
])  # fmt: skip
def test_a_table_that_is_not_there_is_made_first(base, locator, words):
    refused = base.cli("fix", locator, "--stream", "orders", "--yes", *policy(800))
    assert refused.code == 4
    assert refused.says("there is no table new", "make it first", "create-table", *words)


# Spark writes its first batch itself


def begun(lab: Lab, folder: Path, release: str, seconds: float) -> str:
    """The option that the command names."""
    folder.mkdir()
    locator = f"spark:{folder}?release={release}&batch=0"
    told = lab.cli("fix", locator, "--stream", "orders", "--dry-run", *policy(seconds),
                   "--format", "json")  # fmt: skip
    assert told.code == 1, told.err
    (way,) = told.json["decision"]["ways_out"]
    return way.partition("startingPosition=")[2] or way


@pytest.mark.parametrize("since", [500, 800])
@pytest.mark.parametrize("release", [QUBOLE, V1])
def test_a_query_begins_at_the_option_that_is_named(base, tmp_path, release, since):
    """Expectation: the reference query on the connector, started with that text."""
    starting = begun(base, tmp_path / "named", release, since)
    fake, root = resharded(), tmp_path / "checkpoint"
    root.mkdir()
    query = Query(root, connector_of(fake, "orders", root, release, Options(starting)))
    query.start()
    came: list[str] = []
    for _ in range(8):
        fake.clock.advance(120)
        came += [row for rows in (query.trigger() or {}).values() for row in rows]
    assert sorted(came) == arrived_since(resharded(), since)


@pytest.mark.parametrize("by", ["the option that is named", "the time itself"])
@pytest.mark.parametrize("since", [500, 800, 2500])
def test_kinesis_lineage_begins_there(base, tmp_path, since, by):
    starting = begun(base, tmp_path / "named", "kinesis-lineage", since)
    if by == "the time itself":
        starting = f"AT_TIMESTAMP {instant(CREATED + since)}"
    query = drive.Query(resharded(), options={"startingPosition": starting})
    query.drain()
    assert sorted(row.data for row in query.rows()) == arrived_since(resharded(), since)


def test_a_connector_that_would_drop_closed_shards_is_named(base, tmp_path):
    assert "would skip what is left in closed shards" in begun(base, tmp_path / "x", HEAD, 800)


# Quickwit: a new index has a source, whose checkpoint is empty


@pytest.mark.parametrize("release", ["0.8.2", "0.9.0"])
def test_a_new_index_of_quickwit_is_moved_to_the_time(
    servers, tmp_path, monkeypatch, wire, release
):
    """Its checkpoint is empty, so this is a usual fix. Expectation: the reference source."""
    with quickwit_lab(release, "q2", servers, tmp_path, monkeypatch, wire) as lab:
        file = json.loads(lab.text())
        file["index"]["checkpoint"]["kinesis-events"] = {}
        lab.file().write_text(json.dumps(file))
        records = [r for s in lab.fake.stream("events").shards.values() for r in s.records]
        since = sorted(record.arrival for record in records)[len(records) // 2]
        done = lab.fix("--policy", f"at-timestamp={instant(since)}", "--created", lab.created)
        assert done.code == 0, done.out + done.err
        ran = quickwit.started(golden_fake("q2"), "events", lab.positions(), release)
        came = sorted(payload for shard in ran.delivered.values() for payload in shard)
        assert came == sorted(r.payload.decode() for r in records if r.arrival >= int(since))


def test_a_store_without_end_marks_is_past_a_close_at_the_last_record(base):
    """Of a closed shard it holds the last record's number alone."""
    with positions_lab(base, []) as lab:
        lab.options = "?app=new&release=0.5&initial=TRIM_HORIZON"
        for number, shard in lab.fake.stream("orders").shards.items():
            key = f"shardId-{number:012d}"
            last = {"S": str(shard.records[-1].number)}
            item = {"namespace": {"S": "new-orders"}, "shard_id": {"S": key}}
            lab.plant_images([Image(key, {**item, "sequence_number": last})])
        until = ("--wait", "1m", "--until", f"past={instant(CREATED + 2500)}")
        assert lab.inspect(*until).code in (0, 1)
        lab.change("new-orders/shardId-000000000003", sequence_number={"S": str(
            lab.fake.stream("orders").shards[3].records[0].number
        )})  # fmt: skip
        waited = lab.inspect(*until)
        assert waited.code == 3 and waited.says("has not passed", "in shard 3")
