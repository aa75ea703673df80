"""`reshardctl rebuild` from end to end; what the sink holds is given, Spark does not run here."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from reshardctl.exit import Exit
from reshardctl.model import shard_id
from reshardctl.render.formats import REPORTS
from tests.proof.reference.kcl import run
from tests.support.case import CASES, load
from tests.support.case_stream import shard_name
from tests.support.lease_server import session
from tests.support.sinks.random import facts, missing
from tests.unit.render.test_json import VALIDATOR

CASE = load(CASES / "kcl" / "a-both.toml")
OPTIONS = "?release=3.5.1&initial=LATEST"
pytestmark = pytest.mark.lab("a-both", OPTIONS)
ALL = ("--accept", "reread=all")


def sink_of(**held: list[int]) -> dict[str, frozenset[str]]:
    """`s0=[0, 1]`: the first two records of shard 0; nothing of the shards not named."""
    found = {shard: frozenset[str]() for shard in CASE.records}
    for name, indexes in held.items():
        found[shard_name(int(name[1:]))] = frozenset(f"{name}-{i}" for i in indexes)
    return found


@pytest.fixture
def counted(monkeypatch):
    """Says what the sink holds, in place of Spark."""
    asked = []

    def say(sink, **more):
        def count(where, *_):
            asked.append(where)
            return SimpleNamespace(facts=facts(CASE, sink, **more))

        monkeypatch.setattr("reshardctl.commands.count_sink.count", count)
        monkeypatch.setattr("reshardctl.commands.count_sink.check_installed", lambda _sink: None)
        return asked

    return say


def rebuild(lab, *more):
    return lab.cli("rebuild", *lab.where, "--from", "s3a://lake/orders", *more)


def written(lab):
    return {
        int(key[-12:]): item["checkpoint"]["S"] for key, item in lab.items().items()
        if "checkpoint" in item
    }


def starts(lab):
    return run(lab.fake, lab.stream, list(lab.items().values()), "LATEST", "3.5.1")


HOLES = sink_of(s0=[0, 1, 2, 3], s1=[0, 2], s2=[0])


def test_a_table_that_was_emptied(lab_of, counted):
    lab = lab_of("a-both", OPTIONS, items=[])
    counted(HOLES)
    shown = rebuild(lab, "--dry-run", "--format", "text", *ALL)
    assert shown.code == Exit.FINDINGS and "Nothing was written." in shown.out
    assert not lab.items()
    done = rebuild(lab, "--yes", "--format", "text", *ALL)
    assert done.code == Exit.OK, done.err
    ran = starts(lab)
    for shard, unread in missing(CASE, HOLES).items():
        assert unread <= set(ran.delivered.get(shard, ())), shard
    assert {p for s, held in ran.delivered.items() for p in held if p in HOLES[s]} == {"s1-2"}
    assert "Nothing to write." in rebuild(lab, "--yes", "--format", "text", *ALL).out
    assert lab.undo().code in (Exit.OK, Exit.FINDINGS)
    assert not lab.items()


def test_what_is_printed_next_is_the_same_rebuild(lab_of, counted):
    lab = lab_of("a-both", OPTIONS, items=[])
    asked = counted(HOLES)
    words = ("--form", "delta", "--column", "number=seq")
    shown = rebuild(lab, "--dry-run", "--format", "text", *words, *ALL)
    assert any("reshardctl rebuild" in line for line in shown.out.splitlines())
    for word in ("--from s3a://lake/orders", "--form delta", "--column number=seq", "reread=all"):
        assert word in shown.out
    assert (asked[0].path, asked[0].form, asked[0].columns) == (
        "s3a://lake/orders", "delta", ("number=seq",)
    )


def test_a_plan_is_saved_with_its_line_and_applied_without_the_sink(lab_of, counted, tmp_path):
    lab = lab_of("a-both", OPTIONS, items=[])
    asked = counted(HOLES)
    plan = tmp_path / "plan.json"
    assert rebuild(lab, "--dry-run", "--out", plan, *ALL).code == Exit.FINDINGS
    saved = json.loads(plan.read_text())
    assert saved["schema"] == "reshardctl/plan/2"
    assert set(saved["wishes"]["line"]["spans"]) == set(HOLES)
    done = lab.cli("rebuild", "--plan", plan, "--yes", "--assume-stopped")
    assert done.code == Exit.OK, done.err
    assert len(asked) == 1 and written(lab)
    lab.fake.clock.advance(1)
    apply = ("--plan", plan, "--yes", "--assume-stopped")
    assert lab.cli("rebuild", *apply).says("is already as this plan leaves it")
    other = lab.cli("fix", *apply)
    assert other.code == Exit.REFUSED and other.says("from a sink", "reshardctl rebuild --plan")


def test_an_edited_line_is_refused(lab_of, counted, tmp_path):
    lab = lab_of("a-both", OPTIONS, items=[])
    counted(HOLES)
    plan = tmp_path / "plan.json"
    rebuild(lab, "--dry-run", "--out", plan, *ALL)
    saved = json.loads(plan.read_text())
    saved["wishes"]["line"]["spans"][shard_name(0)][0] = ["DONE", "", 0, None]
    plan.write_text(json.dumps(saved, indent=1, sort_keys=True) + "\n")
    assert lab.cli("rebuild", "--plan", plan, "--yes", "--assume-stopped").says("edited or damaged")


def test_an_interrupted_rebuild_is_resumed_on_its_line(lab_of, counted):
    lab = lab_of("a-both", OPTIONS, items=[])
    asked = counted(HOLES)
    lab.wire.fail("TransactWriteItems", "InternalServerError", 500, times=40)
    assert rebuild(lab, "--yes", *ALL).code in (Exit.UNKNOWN, Exit.HALF_DONE)
    lab.wire.faults.clear()
    done = lab.cli("rebuild", "--resume", lab.journal(), "--assume-stopped", "--yes")
    assert done.code == Exit.OK, done.err
    assert len(asked) == 1 and set(written(lab)) == {0, 1, 2, 3}


def test_rows_ahead_of_the_sink_are_moved_back(lab, counted):
    """Acknowledged, never stored: they come again. Expectation: the reference consumer."""
    sink = sink_of(s0=[0])
    counted(sink)
    done = rebuild(lab, "--yes", *ALL)
    assert done.code == Exit.OK, done.err
    ran = starts(lab)
    for shard, unread in missing(CASE, sink).items():
        assert unread <= set(ran.delivered.get(shard, ())), shard


def test_a_table_that_is_gone_is_not_made(lab, counted):
    asked = counted(HOLES)
    found = lab.cli(
        "rebuild", "kcl://gone?release=3.5.1", "--stream", lab.stream, "--from", "s3a://lake/x",
        "--yes",
    )
    assert found.code == Exit.REFUSED
    assert found.says(
        "there is no table gone", "aws dynamodb create-table --table-name gone",
        "AttributeName=leaseKey,AttributeType=S", "AttributeName=leaseKey,KeyType=HASH",
        "PAY_PER_REQUEST", "--region us-east-1",
    )
    assert not asked, "nothing is read before the store is there"


@pytest.mark.parametrize(("locator", "words"), [
    ("kinsumer://gone?release=snowplow-1.7&initial=TRIM_HORIZON",
     ("--table-name gone_checkpoints", "AttributeName=Shard,KeyType=HASH")),
    ("kinesis-consumer+ddb://gone?app=a&release=0.5&initial=LATEST",
     ("--table-name gone", "AttributeName=namespace,KeyType=HASH",
      "AttributeName=shard_id,KeyType=RANGE")),
    ("quickwit+file:///no/such/place?index=i&source=s&release=0.9",
     ("held more than positions", "backup")),
])  # fmt: skip
def test_other_stores_that_are_gone(lab, counted, locator, words):
    asked = counted(HOLES)
    found = lab.cli("rebuild", locator, "--stream", lab.stream, "--from", "s3a://x", "--dry-run")
    assert found.code == Exit.REFUSED and found.says(*words) and not asked
    assert ("dynamodb" in found.err) is not locator.startswith("quickwit")
    assert "KCL" not in found.err


def test_a_directory_that_is_gone_is_not_made(lab, counted, tmp_path):
    counted(HOLES)
    place = tmp_path / "check point"
    found = lab.cli(
        "rebuild", f"spark:{place}?release=kinesis-lineage&batch=0", "--stream", lab.stream,
        "--from", "s3a://lake/x", "--yes",
    )
    assert found.code == Exit.REFUSED and found.says(f"mkdir -p '{place}'")


@pytest.mark.parametrize("scheme", ["spark+s3://", "spark:s3a://"])
def test_a_checkpoint_in_a_bucket_that_is_gone_is_not_made(lab, counted, monkeypatch, scheme):
    """What is to be made is what Hadoop's connector puts for a directory: "KEY/", without content
    (S3AFileSystem.mkdirs)."""
    counted(HOLES)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", lab.servers.dynamodb)
    bucket = f"lake-{scheme[-4]}"
    client = session().client("s3", endpoint_url=lab.servers.dynamodb)
    client.create_bucket(Bucket=bucket)
    words = (
        "rebuild", f"{scheme}{bucket}/jobs/orders?release=kinesis-lineage&batch=0", "--stream",
        lab.stream, "--from", "s3a://lake/x", "--yes", "--assume-stopped", *ALL,
    )
    refused = lab.cli(*words)
    assert refused.code == Exit.REFUSED, refused.err
    assert refused.says(f"aws s3api put-object --bucket {bucket} --key jobs/orders/")
    client.put_object(Bucket=bucket, Key="jobs/orders/")
    assert lab.cli(*words).code == Exit.OK
    assert client.get_object(Bucket=bucket, Key="jobs/orders/metadata")


def test_a_metastore_in_a_bucket_that_is_gone(lab, counted, monkeypatch):
    counted(HOLES)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", lab.servers.dynamodb)
    session().client("s3", endpoint_url=lab.servers.dynamodb).create_bucket(Bucket="quick")
    found = lab.cli(
        "rebuild", "quickwit+s3://quick/indexes?index=i&source=s&release=0.9", "--stream",
        lab.stream, "--from", "s3a://x", "--dry-run",
    )
    assert found.code == Exit.REFUSED and found.says("held more than positions", "backup")


@pytest.mark.parametrize(("said", "why"), [
    (4, "pass over batches 5 to 7"), (9, "batches 8 to 9 would be missing"), (7, ""),
])  # fmt: skip
def test_the_sinks_own_log_says_which_batch_was_the_last(lab, counted, tmp_path, said, why):
    """FileStreamSink.addBatch skips a batch whose number its log has: rows lost without a word."""
    counted(HOLES, batch=7)
    place = tmp_path / "checkpoint"
    place.mkdir()
    found = lab.cli(
        "rebuild", f"spark:{place}?release=kinesis-lineage&batch={said}", "--stream", lab.stream,
        "--from", "s3a://lake/x", "--dry-run", *ALL,
    )
    if why:
        assert found.code == Exit.REFUSED and found.says(why, "say batch=7")
    else:
        assert found.code == Exit.FINDINGS, found.err


@pytest.mark.parametrize(("release", "place"), [("3.5.1", 0), ("1.3.0", None)])
def test_a_record_that_is_there_in_part(lab_of, monkeypatch, release, place):
    """KCL 1.3 knows no places inside records (UserRecord of its clientlibrary.types came with 1.4):
    behind such a number it goes on with the next record, and the rest of this one were lost."""
    lab = lab_of("a-both", f"?release={release}&initial=LATEST", items=[])
    found = facts(CASE, sink_of(s0=[0, 1, 2, 3], s1=[0, 1, 2]))
    shard = shard_id(1)
    torn = found.compared[shard]
    assert torn.until is not None
    behind = replace(torn.until, sub=1)
    torn = replace(torn, missing=1, first_missing=behind, last_missing=behind,
                   before_missing=torn.until)  # fmt: skip
    found = replace(found, compared={**found.compared, shard: torn})
    monkeypatch.setattr(
        "reshardctl.commands.count_sink.count", lambda *_: SimpleNamespace(facts=found)
    )
    monkeypatch.setattr("reshardctl.commands.count_sink.check_installed", lambda _sink: None)
    assert rebuild(lab, "--yes", *ALL).code == Exit.OK
    wanted = "TRIM_HORIZON" if place is None else torn.until.number
    assert written(lab)[1] == wanted


@pytest.mark.parametrize("release", ["kinesis-lineage", "qubole-1.2.0_spark-3.0"])
def test_a_checkpoint_is_undone_until_the_query_has_run(lab, counted, tmp_path, release):
    """Batch 8 is planned by Spark behind the line (MicroBatchExecution writes offsets/8 first, or
    commits it where it was planned): from then on taking 7 away would kill the query."""
    counted(HOLES, batch=7)
    place = tmp_path / "checkpoint"
    place.mkdir()
    words = (
        "rebuild", f"spark:{place}?release={release}&batch=7&failOnDataLoss=true", "--stream",
        lab.stream, "--from", "s3a://lake/x", "--yes", "--assume-stopped", *ALL,
    )  # fmt: skip

    def there():
        return sorted(str(p.relative_to(place)) for p in place.rglob("*") if p.is_file())

    assert lab.cli(*words).code == Exit.OK
    first = lab.journal()
    assert len(there()) == 4
    undone = lab.cli("undo", first, "--yes", "--assume-stopped")
    assert undone.code in (Exit.OK, Exit.FINDINGS), undone.err
    assert not there()
    lab.fake.clock.advance(1)
    done = lab.cli(*words)
    assert done.code == Exit.OK and len(there()) == 4, done.err
    new = "commits/8" if (place / "offsets/8").exists() else "offsets/8"
    (place / new).write_text((place / new.replace("8", "7")).read_text())
    (second,) = {*(tmp_path / "state").glob("*.jsonl")} - {Path(first)}
    refused = lab.cli("undo", second, "--yes", "--assume-stopped")
    assert refused.code == Exit.REFUSED and refused.says("the consumer has used what the fix wrote")
    assert len(there()) == 5


@pytest.mark.parametrize("items", [None, []])
def test_nothing_of_it_is_written_while_the_consumer_runs(lab_of, counted, tmp_path, items):
    """A running consumer's sink is behind what it has read: the line would be too low."""
    lab = lab_of("a-both", OPTIONS, items=items)
    counted(sink_of(s0=[0]))
    plan = tmp_path / "plan.json"
    shown = rebuild(lab, "--dry-run", "--out", plan, "--format", "json", *ALL)
    steps = shown.json["decision"]["steps"]
    assert steps and not any(write["live"] for step in steps for write in step["writes"])
    found = lab.cli("fix", "--plan", plan, "--yes", "--live")
    assert found.code == Exit.REFUSED and found.says("rebuild asks for that")


def test_a_position_that_is_to_be_copied_is_not_broken(lab, counted, tmp_path):
    """awslabs takes it as JSON: a line break inside of one of its words makes another of it."""
    counted(HOLES)
    (tmp_path / "checkpoint").mkdir()
    found = lab.cli(
        "rebuild", f"spark:{tmp_path}/checkpoint?release=awslabs-1.4.2&batch=0", "--stream",
        lab.stream, "--from", "s3a://lake/x", "--dry-run", "--format", "text", *ALL,
    )
    assert found.code == Exit.FINDINGS, found.err
    (line,) = [one for one in found.out.splitlines() if "startingPosition={" in one]
    places = json.loads(line.strip().removeprefix("startingPosition="))
    assert {shard_name(1), shard_name(2), shard_name(3)} == set(places) - {"metadata"}


def test_what_is_not_understood_is_not_counted(lab, counted, tmp_path):
    """Counting may take hours."""
    asked = counted(HOLES)
    (tmp_path / "checkpoint").mkdir()
    found = lab.cli(
        "rebuild", f"spark:{tmp_path}/checkpoint", "--stream", lab.stream, "--from", "s3a://lake/x",
        "--dry-run",
    )
    assert found.code == Exit.USAGE and found.says("release=", "batch=") and not asked


def test_rows_for_every_shard_leave_nothing_to_ask(lab_of, counted):
    """Neither the start mode nor which of 1.15 to 3.x reads them makes a difference."""
    lab = lab_of("a-both", "", items=[])
    counted(HOLES)
    assert rebuild(lab, "--yes", *ALL).code == Exit.OK
    for initial, release in (("LATEST", "1.15.3"), ("TRIM_HORIZON", "2.7.2"), ("LATEST", "3.5.1")):
        rows = list(lab.items().values())
        ran = run(lab.fake, lab.stream, rows, initial, release)
        for shard, unread in missing(CASE, HOLES).items():
            assert unread <= set(ran.delivered.get(shard, ())), (shard, release)


def test_more_than_is_accepted_is_not_read_again(lab_of, counted):
    lab = lab_of("a-both", OPTIONS, items=[])
    counted(sink_of(s0=[0, 3]))
    found = rebuild(lab, "--yes", "--accept", "reread=1s", "--format", "text")
    assert found.code == Exit.FINDINGS and "accept it: --accept reread=" in found.out
    assert not lab.items()


def test_every_format_shows_it(lab_of, counted, tmp_path):
    lab = lab_of("a-both", OPTIONS, items=[])
    counted(HOLES)
    for words, code, said in (
        ("--dry-run", Exit.FINDINGS, "SHARD_END"), ("--yes", Exit.OK, "")
    ):
        files = {form: tmp_path / f"{words}.{form}" for form in REPORTS}
        done = rebuild(lab, words, *(f"--format={f}={file}" for f, file in files.items()), *ALL)
        assert done.code == code, done.err
        for form, file in files.items():
            assert said in (text := file.read_text()) and text, form


@pytest.mark.parametrize("items", [None, []])
def test_its_json_is_as_the_schema_says(lab_of, counted, tmp_path, items):
    """Shown, saved, applied and refused."""
    lab = lab_of("a-both", OPTIONS, items=items)
    counted(HOLES)
    form = ("--format", "json")
    shown = rebuild(lab, "--dry-run", "--out", tmp_path / "plan.json", *form, *ALL)
    done = rebuild(lab, "--yes", *form, *ALL)
    again = rebuild(lab, "--yes", *form, *ALL)
    counted(HOLES, streamed=False)
    refused = rebuild(lab, "--alone", "--yes", *form)
    assert [one.code for one in (shown, done, again, refused)] == [1, 0, 0, 4]
    assert refused.says("nothing proves", "--alone")
    for one in (shown, done, again, refused):
        VALIDATOR.validate(one.json)


def test_what_the_line_rests_on_is_said(lab_of, counted):
    lab = lab_of("a-both", OPTIONS, items=[])
    counted(HOLES)
    notes = rebuild(lab, "--dry-run", "--format", "json", *ALL).json["notes"]
    assert any("s3://lake/orders" in note and "1 of 4 shards processed to their end" in note
               for note in notes)
    assert any("shard 1: 2 records are missing" in note for note in notes), notes
    assert any("one that serves several" in note for note in notes), notes


@pytest.mark.parametrize(("denied", "code"), [(False, Exit.FINDINGS), (True, Exit.REFUSED)])
def test_commands_are_printed_where_it_is_proven_whose_the_rows_are(lab, counted, denied, code):
    """As a write is refused without that proof; numbers of an epoch that the listing has not."""
    counted(HOLES)
    if denied:
        for key, row in lab.items().items():
            if row["checkpoint"]["S"].isdigit():
                lab.alter(key, checkpoint={"S": str(int(row["checkpoint"]["S"]) + (9 << 148))})
        lab.wire.fail("GetShardIterator", "AccessDeniedException")
    shown = rebuild(lab, "--dry-run", "--format", "aws-cli", *ALL)
    assert shown.code == code, shown.err
    assert ("aws dynamodb" in shown.out) is not denied
