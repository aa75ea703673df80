"""Checkpoints of Spark from end to end: inspect, fix, fix again, undo.

The directories are those that the connectors left; what has to be found is what their own restart
lost, and nothing is planned where it lost nothing (runs of Qubole's jar, awslabs 1.4.2 and 0f4c005,
November 2026).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from tests.cli.spark_lab import (
    FOLDERS,
    HEAD,
    QUBOLE,
    V1,
    SparkLab,
    facts,
    spark_lab,
)

pytestmark = pytest.mark.slow

Make = Callable[..., SparkLab]


@pytest.fixture
def golden(entered, servers, tmp_path, monkeypatch, wire) -> Make:
    """A lab of a recorded checkpoint."""
    return lambda release, shape, options=None, folder="": entered.enter_context(
        spark_lab(release, shape, servers, tmp_path, monkeypatch, wire, options, folder)
    )


ALL = {"s1", "s1x", "s2", "s3", "s4", "m1", "t1", "u1"}
LOST = {
    # The restarts that lost records or died: the table of runs, "as it is".
    HEAD: {"s1", "s1x", "s2", "s3", "m1", "t1", "u1"},
    V1: {"s3"},
    QUBOLE: {"s3", "s4"},
}
FOUND = {"s1": "RSH202", "s1x": "RSH202", "s2": "RSH202", "m1": "RSH202", "t1": "RSH202",
         "u1": "RSH202", "s3": "RSH208", "s4": "RSH208"}  # fmt: skip
RUNS = [
    pytest.param(release, shape, FOLDERS[release], id=f"{release}-{shape}")
    for release in FOLDERS for shape in sorted(ALL)
] + [
    pytest.param(HEAD, shape, "awslabs-head-0f4c005-spark-4.3", id=f"{HEAD}-spark-4.3-{shape}")
    for shape in ("s1", "s4")
]


@pytest.mark.parametrize(("release", "shape", "folder"), RUNS)
def test_a_recorded_checkpoint_from_end_to_end(golden, wire, release, shape, folder):
    lab = golden(release, shape, folder=folder)
    before = lab.files()
    seen = lab.inspect("--format", "json")
    errors = {f["code"] for f in seen.json["findings"] if f["severity"] == "error"}
    if shape not in LOST[release]:
        assert (seen.code, errors) == (0, set()), seen.err
        assert lab.fix("--format", "json").code == 0
        assert (lab.files(), lab.journals()) == (before, [])
        return
    assert (seen.code, bool(errors)) == (1, True), seen.err
    if (release, shape) != (QUBOLE, "s4"):
        assert FOUND[shape] in errors
    newest = lab.newest()
    dry = lab.dry("--format", "json")
    assert (dry.code, dry.json["decision"]["kind"]) == (1, "plan"), dry.err
    assert lab.files() == before
    surely = ["--created", lab.created] if seen.json["incarnation"] == "ambiguous" else []
    done = lab.fix("--format", "json", *surely)
    assert done.code == 0, done.err
    after = lab.files()
    _only_what_was_proven(lab, before, after, newest, uncommitted=shape in ("u1", "s1x"))
    assert lab.dry("--format", "json").json["decision"]["kind"] == "nothing"
    clean = lab.inspect("--format", "json")
    assert (clean.code, [f for f in clean.json["findings"] if f["severity"] == "error"]) == (0, [])
    assert lab.undo().code == 0
    assert lab.files() == before, "byte for byte, checksums and modes too"
    assert wire.writes == []


def _only_what_was_proven(lab, before, after, newest, *, uncommitted):
    """A planned batch more, or the planned one anew without its log (`repair.at` of the runs)."""
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    committed = (lab.root / "commits" / str(newest)).exists()
    assert committed or uncommitted
    number = newest + 1 if committed else newest
    own = {f"offsets/{number}", f"offsets/.{number}.crc"}
    assert own <= changed
    assert all(key.startswith("sources/0/") for key in changed - own)
    assert committed <= (changed == own)
    assert after[f"offsets/{number}"][1] & 0o777 == 0o640


@pytest.mark.parametrize(("release", "shape"), [(HEAD, "s1"), (V1, "s3"), (QUBOLE, "s3")])
def test_the_written_batch_names_the_proven_places(golden, release, shape):
    """`repair` of the recorded runs: what was delivered from these places was exactly the loss."""
    lab = golden(release, shape)
    assert lab.fix().code == 0
    line = lab.line(lab.newest())
    assert line.pop("metadata")["batchId"] == str(lab.newest())
    proven = facts(FOLDERS[release], shape)["repair"]["shards"]
    assert line.keys() == {f"shardId-{int(shard):012d}" for shard in proven}
    for shard, (kind, value) in proven.items():
        place = line[f"shardId-{int(shard):012d}"]
        if (release, shape) == (V1, "s3") or shape != "s3":
            assert (place["iteratorType"], place["iteratorPosition"]) == (kind, value)


def test_what_matters_is_asked_and_no_more(golden):
    """Qubole's default of failOnDataLoss is true, and the query dies, wherever it would begin: one
    plan mends that. With false it goes on, and where it begins matters."""
    lab = golden(QUBOLE, "s4", "")
    plain = lab.dry("--format", "json")
    assert (plain.code, plain.json["decision"]["kind"]) == (1, "plan")
    assert any("failOnDataLoss=true, the default of" in note for note in plain.json["notes"])
    lab.options = "?failOnDataLoss=false"
    done = lab.dry("--format", "json")
    assert done.code == 4
    decision = done.json["decision"]
    assert (decision["kind"], decision["options"]) == ("ask", ["startingPosition"])
    text = lab.dry("--format", "text")
    assert "startingPosition=TRIM_HORIZON" in text.out and "startingPosition=LATEST" in text.out
    assert text.says("startingPosition has to be known first")
    assert lab.fix().code == 4
    lab.options = "?startingPosition=LATEST"
    assert lab.dry().code == 1


def test_the_sink_is_asked_where_a_batch_may_have_reached_it(golden):
    lab = golden(HEAD, "u1", f"?release={HEAD}&startingPosition=TRIM_HORIZON")
    done = lab.dry("--format", "json")
    assert (done.code, done.json["decision"]["options"]) == (4, ["sink"])
    lab.options += "&sink=file"
    refused = lab.fix("--format", "json")
    assert refused.code == 1
    assert "_spark_metadata/1" in json.dumps(refused.json["decision"])


def test_the_plan_shows_the_place_of_every_shard_that_changes(golden):
    lab = golden(HEAD, "s1")
    shown = lab.dry("--format", "text").out
    rows = {line.split()[1]: line.split()[2:] for line in shown.splitlines()
            if line[:1] in "+~-" and line[:2].strip()}  # fmt: skip
    assert rows.keys() == {"1", "2"}, "0 stays where it is, and the file is no shard"
    assert rows["1"][:2] == rows["2"][:2] == ["–", "TRIM_HORIZON"]
    assert "writes   plan batch 1" in shown
    assert "Plan: 2 to create, 0 to move, 0 to delete." in shown
    assert "spark.sql.shuffle.partitions" not in shown, "long texts are elided"
    concise = lab.dry().out
    assert ": offsets/1 create" in concise and ": 1 create - -> TRIM_HORIZON" in concise
    changes = lab.dry("--format", "json").json["decision"]["changes"]
    assert [(c["shard"], c["action"]) for c in changes] == [
        ("offsets/1", "create"), ("shardId-000000000000", "keep"),
        ("shardId-000000000001", "create"), ("shardId-000000000002", "create"),
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["sarif", "markdown", "junit", "jsonl", "github"])
def test_every_format_takes_a_checkpoint(golden, form):
    lab = golden(HEAD, "s1x")
    for verb in (lab.inspect, lab.dry):
        done = verb("--format", form)
        assert done.code == 1, done.err
        if form == "junit":
            ElementTree.fromstring(done.out)  # noqa: S314 - our own
        if form == "sarif":
            json.loads(done.out)
        assert max(map(len, done.out.splitlines())) < 12_000
    runbook = lab.dry("--format", "markdown").out
    assert "`offsets/3`" in runbook and "AFTER_SEQUENCE_NUMBER" in runbook


def test_a_query_that_writes_is_running(golden):
    lab = golden(HEAD, "s1")
    before = lab.files()
    log = lab.root / "sources/0/shard-source/0"
    (entry, *_) = sorted(log.glob("shardId-*"))

    def beat(_seconds: float) -> None:
        body = entry.read_bytes()
        entry.unlink()
        entry.write_bytes(body)
        entry.chmod(0o640)

    lab.on_sleep.append(beat)
    done = lab.cli("fix", *lab.where, "--yes", "--watch", "60s")
    assert done.code == 4
    assert done.says("is running", "sources")
    assert lab.files() == before


def test_a_silent_watch_is_believed_as_far_as_it_goes(golden):
    lab = golden(HEAD, "s1")
    done = lab.cli("fix", *lab.where, "--yes", "--watch", "60s")
    assert done.code == 0, done.err
    assert sum(lab.slept) >= 60


def commit(lab: SparkLab, number: int) -> None:
    """What the query leaves when it has run the planned batch."""
    shutil.copy(lab.root / "commits/0", lab.root / "commits" / str(number))
    log = lab.root / "sources/0/shard-source"
    shutil.copytree(log / "0", log / str(number))


def test_a_batch_that_ran_meanwhile_makes_the_plan_stale(golden, tmp_path):
    lab = golden(HEAD, "s1")
    plan = tmp_path / "saved.plan"
    assert lab.dry("--out", plan).code == 1
    shutil.copy(lab.root / "offsets/0", lab.root / "offsets/1")
    commit(lab, 1)
    before = lab.files()
    done = lab.apply(plan)
    assert done.code == 4, done.err
    assert done.err.startswith("refused: ")
    assert lab.files() == before


def test_a_saved_plan_is_applied(golden, tmp_path):
    lab = golden(HEAD, "s1")
    before = lab.files()
    plan = tmp_path / "saved.plan"
    assert lab.dry("--out", plan).code == 1
    assert lab.apply(plan).code == 0
    assert "offsets/1" in lab.files()
    assert lab.undo().code == 0
    assert lab.files() == before


def test_a_batch_that_has_run_is_not_taken_back(golden):
    lab = golden(HEAD, "s1")
    assert lab.fix().code == 0
    commit(lab, 1)
    before = lab.files()
    done = lab.undo()
    assert done.code == 4, done.err
    assert done.says("committed")
    assert lab.files() == before


def test_a_deleted_file_comes_back_with_its_own_mode(golden):
    """s1x takes two files of the log away, of which one may be read by its owner alone."""
    lab = golden(HEAD, "s1x")
    log = lab.root / "sources/0/shard-source/3"
    first, *_ = sorted(path for path in log.iterdir() if not path.name.startswith("."))
    first.chmod(0o600)
    (log / f".{first.name}.crc").chmod(0o660)
    before = lab.files()
    assert lab.fix().code == 0
    assert not first.exists()
    assert lab.undo().code == 0
    assert lab.files() == before


def wrong(lab: SparkLab, what: str) -> None:
    newest = lab.root / "offsets/0"
    match what:
        case "missing":
            shutil.rmtree(lab.root)
        case "empty":
            shutil.rmtree(lab.root)
            lab.root.mkdir()
        case "other":
            shutil.rmtree(lab.root)
            (lab.root / "data").mkdir(parents=True)
            (lab.root / "data/part-0.parquet").write_bytes(b"PAR1\xff")
        case "file":
            shutil.rmtree(lab.root)
            lab.root.write_text("not a directory")
        case "cut":
            newest.write_text(newest.read_text()[:700])
        case "version":
            newest.write_text(newest.read_text().replace("v1", "v9", 1))
        case "nothing":
            newest.write_text("")
        case "list":
            newest.write_text("\n".join([*newest.read_text().splitlines()[:2], "[1,2]"]))
        case "two":
            line = newest.read_text().splitlines()[2]
            newest.write_text(newest.read_text() + "\n" + line)
        case "log":
            shutil.rmtree(lab.root / "sources")
        case "bytes":
            newest.write_bytes(b"v1\n\xff\xfe\x00")
        case _:
            raise ValueError(what)


@pytest.mark.parametrize(("what", "codes", "words"), [
    ("missing", {2, 3}, ["checkpoint"]),
    ("empty", {2, 3}, ["checkpoint"]),
    ("other", {2, 3}, ["checkpoint"]),
    ("file", {2, 3}, ["checkpoint"]),
    ("cut", {2, 3}, ["offsets/0"]),
    ("version", {2, 3}, ["offsets/0", "v9"]),
    ("nothing", {2, 3}, ["offsets/0"]),
    ("list", {2, 3}, []),
    ("log", {3}, ["log of the connector", "log=TABLE"]),
    ("two", {2}, ["source="]),
    ("bytes", {2, 3}, ["offsets/0"]),
])  # fmt: skip
def test_bad_input_is_named(golden, what, codes, words):
    lab = golden(HEAD, "s1")
    wrong(lab, what)
    before = lab.files() if lab.root.is_dir() else {}
    for verb in (lab.inspect, lab.fix):
        done = verb()
        assert done.code in codes, done.out + done.err
        assert done.says(str(lab.root), *words)
        assert len(done.err.splitlines()) >= 2, "what to do next"
    assert (lab.files() if lab.root.is_dir() else {}) == before
    assert lab.journals() == []


def test_another_stream_s_checkpoint(golden):
    lab = golden(HEAD, "s1")
    client = lab.fake.client()
    client.create_stream(StreamName="other", ShardCount=1)
    lab.fake.clock.advance(60)
    lab.stream = "other"
    done = lab.inspect()
    assert done.code == 2
    assert done.says("st", "other", str(lab.root))
    assert len(done.err.splitlines()) >= 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(golden):
    lab = golden(HEAD, "s1")
    (lab.root / "offsets/0").chmod(0)
    done = lab.inspect()
    assert done.code in (2, 3)
    assert done.says("offsets/0")


@pytest.mark.parametrize("form", ["slash", "relative", "url"])
def test_ways_to_write_a_path(golden, monkeypatch, form):
    lab = golden(HEAD, "s1")
    monkeypatch.chdir(lab.root.parent)
    path = {"slash": f"{lab.root}/", "relative": lab.root.name, "url": f"file://{lab.root}"}[form]
    place = [f"spark:{path}{lab.options}", "--stream", lab.stream]
    assert lab.cli("inspect", *place).code == 1
    assert lab.cli("fix", *place, "--yes", "--assume-stopped").code == 0
    assert "offsets/1" in lab.files()
    monkeypatch.chdir("/")
    assert lab.undo().code == 0
    assert "offsets/1" not in lab.files()


def test_a_home_is_for_the_shell_to_find(golden):
    """No shell puts it in behind `spark:`."""
    done = golden(HEAD, "s1").cli("inspect", "spark:~/checkpoint", "--stream", "st")
    assert done.code == 2
    assert done.says("~/checkpoint")


@pytest.mark.parametrize("option", [
    "release=2.7", "startingPosition=earlier", "failOnDataLoss=maybe", "sink=console",
    "initial=LATEST", "allow=all", "maxFetchRecordsPerShard=0", "source=7",
])  # fmt: skip
def test_bad_options(golden, option):
    lab = golden(HEAD, "s1", f"?{option}")
    done = lab.inspect()
    assert done.code == 2
    assert done.says(option.partition("=")[0])


def test_explained_and_drawn(golden):
    lab = golden(HEAD, "s1")
    told = lab.cli("explain", *lab.where, "0")
    assert told.code in (0, 1), told.err
    assert "awslabs-head-0f4c005" in told.out
    assert lab.cli("graph", *lab.where).code in (0, 1)


def test_watched_while_a_batch_comes(golden):
    lab = golden(HEAD, "s1")
    done = lab.inspect("--watch", "60s", "--format", "json")
    assert done.code == 1, done.err
    assert done.json["watch"]["runs"] is False


@pytest.mark.parametrize("redact", [[], ["--redact"]], ids=["plain", "redacted"])
def test_a_snapshot_judges_alike(golden, tmp_path, redact):
    lab = golden(HEAD, "s1x")
    taken = tmp_path / "taken.json"
    done = lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", taken, *redact)
    assert done.code == 0, done.err
    now, then = (
        lab.inspect("--format", "json").json,
        lab.cli("inspect", f"snapshot:{taken}", "--format", "json").json,
    )
    heads = [[(f["code"], f["severity"], f["shards"]) for f in one["findings"]]
             for one in (now, then)]  # fmt: skip
    assert heads[0] == heads[1]
    if redact:
        text = taken.read_text()
        assert str(lab.root) not in text
        assert '"st"' not in text and '\\"st\\"' not in text
        query = json.loads((lab.root / "metadata").read_text())["id"]
        assert query not in text
        assert json.loads(text)["consumers"][0]["locator"].startswith("spark:name-")


def test_what_one_batch_may_drop_is_said_before_it_is_planned(golden):
    """Run of 0f4c005: of a closed parent's six records two came, the rest was dropped."""
    lab = golden(HEAD, "s1")
    (note,) = [n for n in lab.dry("--format", "json").json["notes"] if "maxFetchRecords" in n]
    assert "set it above the longest unread tail" in note


@pytest.mark.parametrize("orphan", ["offsets/.7.crc", "commits/.7.crc"])
def test_an_orphaned_checksum_hides_no_log(golden, orphan):
    """Spark lists batches by their files (HDFSMetadataLog.isBatchFile), so a checksum alone is
    none; run C6: it matters only when that very batch is written."""
    lab = golden(HEAD, "s1x")
    before = lab.inspect("--format", "json")
    (lab.root / orphan).write_bytes(b"crc\0\0\0\2\0\0\0\0\0")
    files = lab.files()
    found = lab.inspect("--format", "json")
    assert (found.code, found.codes) == (before.code, before.codes), found.err
    assert lab.fix().code == 0
    assert {"RSH202"}.isdisjoint(lab.inspect("--format", "json").codes)
    assert lab.undo().code == 0
    assert lab.files() == files


@pytest.mark.parametrize(("release", "orphan"), [
    (QUBOLE, "offsets/.{next}.crc"),
    (HEAD, "offsets/.{next}.crc"),
    (HEAD, "commits/.{newest}.crc"),
])
def test_an_orphaned_checksum_in_the_way_is_removed_and_comes_back(golden, release, orphan):
    """On a local disk Hadoop writes no file whose checksum lies there without it."""
    lab = golden(release, "s3" if release == QUBOLE else "s1x")
    newest = lab.newest()
    name = orphan.format(newest=newest, next=newest + 1)
    stale = b"crc\0\0\0\2\0\0\0\0\0"
    (lab.root / name).write_bytes(stale)
    files = lab.files()
    fixed = lab.fix()
    assert fixed.code == 0, fixed.err
    assert lab.files().get(name, (b"",))[0] != stale
    assert lab.dry("--format", "json").json["decision"]["kind"] == "nothing"
    undone = lab.undo()
    assert undone.code == 0, undone.err
    assert lab.files() == files


@pytest.mark.parametrize("release", [QUBOLE, V1, HEAD])
def test_a_place_at_a_record_can_be_probed_and_is_written_as_one(golden, release):
    """The connectors read AT_SEQUENCE_NUMBER n; AFTER n - 1, of no record, is refused (runs of
    November 2026)."""
    lab = golden(release, "s1")
    (entry,) = (lab.root / "sources").glob("*/*/0/shardId-*0")
    place = json.loads(entry.read_text())
    following = str(int(place["iteratorPosition"]) + (1 << 80))  # the next record's
    entry.write_text(json.dumps(
        place | {"iteratorType": "AT_SEQUENCE_NUMBER", "iteratorPosition": following}
    ))
    found = lab.inspect("--probe")
    assert found.code in (0, 1), found.err
    if release == HEAD:
        assert lab.fix().code == 0
        places = lab.line(lab.newest())
        assert places["shardId-000000000000"]["iteratorPosition"] == following
        assert places["shardId-000000000000"]["iteratorType"] == "AT_SEQUENCE_NUMBER"


@pytest.mark.parametrize("release", [QUBOLE, V1])
def test_nothing_waits_for_the_end_of_a_drained_shard(golden, release):
    """The connectors read parents and children in the same batch (run S1)."""
    lab = golden(release, "s1")
    (entry,) = (lab.root / "sources").glob("*/*/0/shardId-*0")
    last = lab.fake.stream(lab.stream).shards[0].records[-1].number
    place = json.loads(entry.read_text())
    entry.write_text(json.dumps(place | {"iteratorPosition": str(last)}))
    lab.fake.clock.advance(3600)
    assert lab.inspect("--probe", "--format", "json").codes == set()


def test_what_would_still_kill_the_query_is_not_written(golden):
    """A place with another shard's number kills all three connectors (runs of November 2026): a
    batch that names it, for a shard whose repair costs more than is accepted, helps nobody."""
    lab = golden(QUBOLE, "s1x")
    one, zero = ("shardId-000000000001", "shardId-000000000000")
    log = lab.root / "sources/0/shard-commit"
    number = json.loads((log / "0" / zero).read_text())["iteratorPosition"]
    place = json.loads((log / "2" / one).read_text())
    (log / "2" / one).write_text(json.dumps(place | {"iteratorPosition": number}))
    before = lab.files()
    left = lab.cli(
        "fix", lab.locator, "--stream", lab.stream, "--yes", "--assume-stopped",
        "--accept", "reread=1s,disorder",
    )
    assert left.code == 1 and "costs more than is accepted" in left.out
    assert lab.files() == before


def test_a_file_that_came_through_windows_is_read_and_edited_where_it_stands(golden):
    """CRLF in an offsets file is read (run of November 2026)."""
    lab = golden(HEAD, "u1")
    before = lab.inspect("--format", "json")
    path = lab.root / "offsets" / str(lab.newest())
    (path.parent / f".{path.name}.crc").unlink()
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = lab.inspect("--format", "json")
    assert (found.code, found.codes) == (before.code, before.codes)
    assert "RSH202" in found.codes
    assert lab.fix("--accept", "disorder,reread=1h").code == 0
    assert path.read_bytes().count(b"\r\n") == 2


def test_the_shard_of_a_finding_has_a_line_in_the_plan_that_mends_it(golden):
    """inspect says `read 0 from …`: the batch that is written names 0 again."""
    lab = golden(HEAD, "s1")
    (finding,) = lab.inspect("--format", "json").json["findings"]
    assert (finding["code"], finding["shards"]) == ("RSH202", ["shardId-000000000000"])
    table = [line.split() for line in lab.dry("--format", "text").out.splitlines()
             if line[:1] in ("=", "+", "~", "-")]  # fmt: skip
    assert [(row[0], row[1]) for row in table] == [("=", "0"), ("+", "1"), ("+", "2")]
    assert "RSH202" in table[0] and "nothing" in table[0]
    assert all(" ".join(row).count("in the same batch") == 1 for row in table[1:])


def test_an_undo_shows_the_positions_that_go_with_a_deleted_batch(golden):
    """What the batch planned is planned no more: its children have no position again."""
    lab = golden(HEAD, "s1")
    assert lab.fix().code in (0, 1)
    shown = lab.cli("undo", lab.journal(), "--dry-run", "--format", "text").out
    table = [line.split() for line in shown.splitlines() if line[:1] in ("-", "~", "+")]
    assert table == [["-", "1", "TRIM_HORIZON", "–"], ["-", "2", "TRIM_HORIZON", "–"]]
    assert "Undo: 1 row to delete." in shown
