"""Checkpoint directories: what the real ones hold, and what damaged ones are told to be."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reshardctl.consumers.spark.behaviour import crash_of_spark
from reshardctl.consumers.spark.checkpoint import Checkpoint, log_elsewhere
from reshardctl.consumers.spark.consumer import Spark
from reshardctl.consumers.spark.encode import startable
from reshardctl.consumers.spark.lines import awslabs
from reshardctl.consumers.spark.positions import Position, spelled
from reshardctl.consumers.spark.releases import AWSLABS_HEAD, App, Start
from reshardctl.consumers.spark.tree import checkpoint_of
from reshardctl.errors import CannotTell, ReshardError, UsageError, WrongStream
from reshardctl.model import AnomalyKind, Image, Stream, shard_id
from tests.support.checkpoint_files import CONNECTORS, GOLDEN, checkpoints, file, images, name
from tests.support.lineages import split_in_turn

HEAD, V2, QUBOLE = (
    "awslabs-head-0f4c005", "awslabs-head-0f4c005-spark-4.3", "qubole-1.2.0_spark-3.0"
)
ZERO, ONE, TWO = (shard_id(index) for index in range(3))


def stream(called: str) -> Stream:
    arn = f"arn:aws:kinesis:eu-west-1:123456789012:stream/{called}"
    return Stream(arn, called, 1795000000, 86400, "ACTIVE")


ST = stream("st")


def tree(path: str) -> dict[str, Image]:
    return images(GOLDEN / path)


def read(
    files: dict[str, Image], *changed: Image, without: str = "", source: str = ""
) -> Checkpoint:
    """The checkpoint of these files with some changed, and those below a path gone."""
    gone = {key for key in files if without and (key == without or key.startswith(f"{without}/"))}
    rest = {key: image for key, image in files.items() if key not in gone}
    return checkpoint_of({**rest, **{one.key: one for one in changed}}.values(), ST, source)


def text(files: dict[str, Image], key: str) -> str:
    return files[key].attributes["text"]["S"]


def edited(files: dict[str, Image], key: str, before: str, after: str) -> Image:
    assert before in text(files, key)
    return file(key, text(files, key).replace(before, after))


def lined(files: dict[str, Image], key: str, lines: dict[int, str]) -> Image:
    """A log with some of its lines otherwise; by their places, from 0."""
    whole = text(files, key).split("\n")
    return file(key, "\n".join(lines.get(at, line) for at, line in enumerate(whole)))


def line_of(files: dict[str, Image], key: str) -> str:
    """The source's own line of an offset log."""
    return text(files, key).split("\n")[2]


def errors(checkpoint: Checkpoint) -> dict[str, str]:
    return {
        anomaly.key: anomaly.why
        for anomaly in checkpoint.anomalies
        if anomaly.kind is AnomalyKind.UNREADABLE
    }


def remarks(checkpoint: Checkpoint) -> dict[str, str]:
    return {
        anomaly.key: anomaly.why
        for anomaly in checkpoint.anomalies
        if anomaly.kind is not AnomalyKind.UNREADABLE
    }


# ---- as they were recorded


@pytest.mark.parametrize("path", checkpoints(*CONNECTORS), ids=name)
def test_a_recorded_checkpoint_is_read_and_nothing_is_odd_about_it(path):
    """Kind, stream and Scala as tests/golden/spark/README.md says; batches and commits as the
    folder lists them; every log entry of the newest batch."""
    build = path.parent.name
    found = checkpoint_of(images(path).values(), ST)
    assert found.connector == ("qubole" if build.startswith("qubole") else "awslabs")
    assert (found.source, found.stream_name, found.other_sources) == ("0", "st", ())
    assert found.scalas == {"2.13" if build.startswith("awslabs-head") else "2.12"}
    assert found.anomalies == ()
    assert found.query_id == json.loads((path / "metadata").read_text())["id"]
    numbers = {int(one.name) for one in (path / "offsets").iterdir() if one.name.isdigit()}
    commits = {int(one.name) for one in (path / "commits").iterdir() if one.name.isdigit()}
    assert (set(found.batches), set(found.committed)) == (numbers, commits)
    assert (found.gaps, found.unreadable, found.strays, found.stateful) == ((), {}, {}, False)
    assert not found.asynchronous
    for number, batch in found.batches.items():
        assert batch.log.text() == (path / "offsets" / str(number)).read_text()
        assert (batch.broken, batch.begun, batch.batch_id) == ("", True, number)
        assert batch.committed == (number in commits)
    assert found.newest is not None
    folder = path / found.log_folder(found.newest)
    written = {one.name for one in folder.iterdir() if not one.name.startswith(".")}
    assert set(found.entries.get(found.newest, {})) == written


def test_the_lost_tail_of_a_closed_shard_is_in_reach():
    """golden awslabs-head-0f4c005/s1x: offsets/0 names shard 0 and no later one does; its log says
    where it stood, four records in (`committed` of s1x.json)."""
    found = read(tree(f"{HEAD}/s1x"))
    assert ZERO in found.batches[0].positions
    assert all(ZERO not in found.batches[number].positions for number in (1, 2, 3))
    assert found.entries[0][ZERO].position.kind == "AFTER_SEQUENCE_NUMBER"
    assert {0, 3} <= found.listed


def test_a_query_of_spark_4_3_with_the_log_in_version_two():
    found = read(tree(f"{V2}/s1"))
    assert (found.connector, found.source, found.generation) == ("awslabs", "0", "4.3")
    assert found.batches[0].log.version == 2


def test_a_python_source_is_told_by_its_offsets():
    found = read(tree("pyds/lineage"))
    assert (found.connector, found.stream_name, found.entries) == ("lineage", "", {})
    assert found.batches[2].positions[ONE].kind == "AFTER_SEQUENCE_NUMBER"
    assert found.log_folder(2) == ""


@pytest.mark.parametrize(
    "path", ["spark-4.2.1/v2", "spark-4.3.0/v2n", "spark-4.3.0-modes/state-v2"]
)
def test_a_query_without_kinesis_is_named_so(path):
    with pytest.raises(UsageError, match="no source of this query reads Kinesis"):
        read(tree(path))


def test_state_is_seen():
    files = tree(f"{HEAD}/s1")
    state = {key: one for key, one in tree("spark-4.3.0-modes/state-v2").items()
             if key.startswith("state")}
    assert read({**files, **state}).stateful
    assert read(files, Image("state/", {})).stateful
    assert not read(files).stateful


def test_a_commit_of_version_two_is_read():
    commit = tree("spark-4.3.0-modes/state-v2")["commits/1"]
    found = read(tree(f"{HEAD}/s1"), Image("commits/0", commit.attributes))
    assert found.commits[0].state_ids


# ---- which source


def twice(files: dict[str, Image], *lines: str) -> Image:
    """offsets/0 with more sources after its own."""
    return file("offsets/0", "\n".join([text(files, "offsets/0"), *lines]))


def test_other_sources_are_carried_as_they_are():
    files = tree(f"{HEAD}/s1")
    kafka = '{"topic":{"0":23}}'
    found = read(files, twice(files, "-", kafka))
    assert (found.source, found.other_sources) == ("0", ("1", "2"))
    log = found.batches[0].log.replacing("0", "x")
    assert log.text().split("\n")[3:] == ["-", kafka]


def test_two_sources_on_the_stream_have_to_be_told_apart():
    files = tree(f"{HEAD}/s1")
    both = twice(files, line_of(files, "offsets/0"))
    with pytest.raises(UsageError, match="sources 0, 1 of this query read stream st") as error:
        read(files, both)
    assert "source=0" in error.value.next
    found = read(files, both, source="1")
    assert (found.source, found.other_sources) == ("1", ("0",))
    assert found.log_folder(0) == "sources/1/shard-source/0"


def test_of_two_kinesis_sources_the_stream_s_own_is_taken():
    files = tree(f"{HEAD}/s1")
    other = line_of(files, "offsets/0").replace('"streamName":"st"', '"streamName":"other"')
    assert read(files, twice(files, other)).source == "0"
    both = {**files, "offsets/0": twice(files, other)}
    assert checkpoint_of(both.values(), stream("other")).source == "1"
    with pytest.raises(UsageError, match="read Kinesis"):
        checkpoint_of(both.values())


def test_the_checkpoint_of_another_stream_is_refused():
    files = tree(f"{HEAD}/s1")
    with pytest.raises(WrongStream, match="reads st, not orders"):
        checkpoint_of(files.values(), stream("orders"))
    with pytest.raises(WrongStream, match="source 0 of the checkpoint reads st"):
        checkpoint_of(files.values(), stream("orders"), "0")


@pytest.mark.parametrize(
    ("source", "why"), [("7", "no such source, but 0, 1"), ("1", "does not read Kinesis")]
)
def test_a_source_that_is_not_there_is_a_usage_error(source, why):
    files = tree(f"{HEAD}/s1")
    with pytest.raises(UsageError, match=why):
        read(files, twice(files, '{"offset":1}'), source=source)


def test_named_sources_are_known_by_their_names():
    files = tree(f"{V2}/s1")
    body = text(files, "offsets/0").replace("\n0:{", "\nkin:{")
    found = read(files, file("offsets/0", body + "\nrate:{\"offset\":1}"))
    assert (found.source, found.other_sources) == ("kin", ("rate",))
    assert found.log_folder(0) == "sources/kin/shard-source/0"
    assert found.batches[0].log["kin"] == line_of(files, "offsets/0").removeprefix("0:")


def test_a_source_that_has_not_begun_is_kept_apart_from_an_empty_one():
    files = tree(f"{HEAD}/u1")
    found = read(files, lined(files, "offsets/0", {2: "-"}))
    assert not found.batches[0].begun
    assert found.batches[0].broken == ""
    assert found.batches[1].begun


def test_a_source_that_appears_later_makes_the_older_batch_unusable_and_says_why():
    files = tree(f"{HEAD}/u1")
    found = read(files, twice(files, '{"offset":1}'))
    assert found.batches.keys() == {0, 1}
    swapped = '{"offset":1}\n' + line_of(files, "offsets/1")
    found = read(files, lined(files, "offsets/1", {2: swapped}))
    assert found.source == "1"
    assert found.unreadable == {0: "it does not name source 1"}
    assert "does not name the source" in errors(found)["offsets/0"]


# ---- damage


def test_a_folder_that_is_no_checkpoint_is_refused():
    for found in ({}, {"a": file("a", "b")}, {"part-0.parquet": Image("part-0.parquet", {})}):
        with pytest.raises(UsageError, match="no checkpoint of a streaming query"):
            read(found)


def test_a_query_without_a_batch_has_no_positions_and_may_be_of_every_jvm_connector():
    found = read({"metadata": tree(f"{HEAD}/s1")["metadata"]})
    assert (found.batches, found.newest, found.connector) == ({}, None, "unknown")
    assert found.anomalies == ()
    releases = {one.options["release"].partition("-")[0] for one in Spark().candidates(found, {})}
    assert releases == {"awslabs", "qubole", "roncemer"}


@pytest.mark.parametrize("damage", ["", "v1", "v1\n{}", "v0\n{}\n{}", "v1\n{}\n{}\n\n{}"])
def test_a_damaged_newest_log_is_an_error_and_its_batch_is_named(damage):
    """Empty and cut files are what a full disk leaves; Spark throws on them."""
    files = tree(f"{HEAD}/s1x")
    found = read(files, file("offsets/3", damage))
    assert list(found.unreadable) == [3]
    assert found.newest == 3
    assert found.unreadable[3] in errors(found)["offsets/3"]
    assert 3 not in found.batches


@pytest.mark.parametrize("damage", [lambda line: line[:-20], lambda _: "rubbish"])
def test_a_damaged_line_is_an_error_and_no_guess(damage):
    files = tree(f"{HEAD}/s1x")
    found = read(files, lined(files, "offsets/3", {2: damage(line_of(files, "offsets/3"))}))
    assert "no JSON" in found.batches[3].broken
    assert found.batches[3].positions == {}
    assert "no JSON" in errors(found)["offsets/3"]


def test_damage_that_spark_never_reads_again_is_a_remark():
    """It reads the two newest only (MicroBatchExecution.populateStartOffsets)."""
    files = tree(f"{HEAD}/s1x")
    found = read(files, file("offsets/0", ""), file("offsets/1", "v1\n{}\n{"))
    assert errors(found) == {}
    assert {"offsets/0", "offsets/1"} <= remarks(found).keys()
    assert "offsets/2" in errors(read(files, file("offsets/2", "")))


@pytest.mark.parametrize(("image", "why"), [
    (file("offsets/0", ""), "offsets/0: it is empty"),
    (Image("offsets/0", {"bytes": {"B": "gIA="}}), "no UTF-8"),
    (Image("offsets/0", {"unread": {"S": "a link out of the root"}}), "a link out of the root"),
])  # fmt: skip
def test_no_readable_log_at_all_cannot_be_judged(image, why):
    with pytest.raises(CannotTell, match=why):
        read(tree(f"{HEAD}/s1"), image)


def test_one_bad_position_breaks_its_batch_and_shows_the_others():
    """json4s reads a line as a whole: MappingException, and the query dies."""
    files = tree(f"{HEAD}/u1")
    place = '"%s":{"subSequenceNumber":"-1","isLast":"true"' % ONE  # noqa: UP031
    found = read(files, edited(files, "offsets/1", place, place.replace('"true"', "true")))
    batch = found.batches[1]
    assert batch.broken == f"{ONE}: isLast is true or false, and the connector wants a string"
    assert list(batch.positions) == [TWO]
    (anomaly,) = (one for one in found.anomalies if one.shard == ONE)
    assert (anomaly.kind, anomaly.key) == (AnomalyKind.UNREADABLE, "offsets/1")
    assert ONE in anomaly.why


def test_two_thousand_bad_positions_do_not_flood_the_report():
    positions = {shard_id(i): Position("TRIM_HORIZON") for i in range(2_000)}
    files = tree(f"{HEAD}/s1")
    line = awslabs.line("st", 0, positions, "2.13").replace('"isLast":"true"', '"isLast":true')
    found = read(files, lined(files, "offsets/0", {2: line}))
    assert len(found.anomalies) < 30
    assert "1980 more" in found.anomalies[-1].why


@pytest.mark.parametrize(("path", "line", "why"), [
    (f"{HEAD}/s1", "", "continuous"), (f"{HEAD}/s1", "{", "unreadable"),
    (f"{HEAD}/s1", "null", "null"), (f"{HEAD}/s1", '{"conf":[]}', "conf is not an object"),
    # The log before the newest: populateStartOffsets of MicroBatchExecution gets it, too, and
    # OffsetSeqLog.deserialize reads its line; nothing goes on from it, so it may be empty.
    (f"{QUBOLE}/u1", "{", "unreadable"),
    (f"{QUBOLE}/u1", '{"batchTimestampMs":"7"}', "batchTimestampMs is not a number"),
    (f"{QUBOLE}/u1", "", None), (f"{QUBOLE}/u1", "[]", None),
])  # fmt: skip
def test_a_second_line_that_spark_cannot_use_is_an_error(path, line, why):
    files = tree(path)
    found = read(files, lined(files, "offsets/0", {1: line}))
    assert ("offsets/0" in errors(found)) is (why is not None)
    assert why is None or why in errors(found)["offsets/0"]
    assert found.newest == (1 if path.endswith("u1") else 0)
    assert found.newest or found.generation == ""


def of_a_connector(path: str) -> Checkpoint:
    """A recorded checkpoint, its source's lines replaced by a connector's."""
    line, files = line_of(tree(f"{HEAD}/s1"), "offsets/0"), tree(path)
    logs = [key for key in files if key.startswith("offsets/") and key != "offsets/"]
    head = [text(files, key).split("\n")[:2] for key in logs]
    pairs = zip(logs, head, strict=True)
    return read(files, *(file(key, "\n".join([*two, line])) for key, two in pairs))


def test_a_continuous_query_is_told_by_its_second_lines():
    assert "continuous" in errors(of_a_connector("spark-4.3.0-modes/continuous"))["offsets/8"]


def test_an_asynchronous_query_is_told_by_its_gaps():
    found = of_a_connector("spark-4.3.0-modes/async")
    assert list(found.batches) == [0, 5, 10, 14, 25, 29, 36]
    assert found.asynchronous
    assert sum(map(len, found.gaps)) == 30
    assert errors(found) == {}
    assert "asynchronously" in remarks(found)["offsets/1"]


def test_a_removed_log_is_an_error_where_spark_wants_it():
    """Run on 3.3.4 to 4.3.0: `batch 1 doesn't exist`."""
    files = tree(f"{HEAD}/s1x")
    found = read(files, without="offsets/2")
    assert found.gaps == (range(2, 3),)
    assert not found.asynchronous
    assert "batch 2 doesn't exist" in errors(found)["offsets/2"]
    found = read(files, without="offsets/1")
    assert errors(found) == {}
    assert "unknown" in remarks(found)["offsets/1"]


@pytest.mark.parametrize(
    ("damage", "why"),
    [("", "empty"), ("v1\n\n", "no JSON"), ("v0\n{}", "v0"), ("v1\nnull", "null"),
     ("v1\n{", "no JSON")],
)
def test_a_damaged_commit_is_an_error_where_spark_reads_it(damage, why):
    files = tree("awslabs-head/s1")
    found = read(files, file("commits/3", damage))
    assert why in errors(found)["commits/3"]
    assert list(found.spoiled) == ["commits/3"]
    assert 3 not in found.committed, "once that file is gone, batch 3 runs again"
    assert 3 not in found.commits
    older = read(files, file("commits/2", damage))
    assert errors(older) == {}
    assert why in remarks(older)["commits/2"]


@pytest.mark.parametrize("key", ["commits/3", "offsets/3"])
def test_a_log_of_a_newer_spark_is_named(key):
    files = tree("awslabs-head/s1")
    with pytest.raises(UsageError, match=f"{key}: .*newer Spark"):
        read(files, file(key, text(files, key).replace("v1", "v9", 1)))


def test_metadata_that_may_not_be_read_is_not_taken_for_wrong():
    found = read(tree(f"{HEAD}/s1"), Image("metadata", {"unread": {"S": "permission denied"}}))
    assert "permission denied" in errors(found)["metadata"] and not found.spoiled


def test_metadata_that_cannot_be_read_is_not_written_again_without_a_batch_to_go_on_from():
    found = checkpoint_of([Image("metadata", {"text": {"S": ""}})])
    assert list(found.spoiled) == ["metadata"]
    assert list(startable(found)) == []


def test_the_positions_of_an_offset_log_alone():
    """For a finding about its row, whatever the other files say."""
    files, spark = tree("awslabs-head/s1"), Spark()
    whole = read(files)
    shown = {shard: spelled(at) for shard, at in whole.batches[3].positions.items()}
    assert spark.positions_of_many(files["offsets/3"], ST) == shown
    for other in (files["commits/3"], file("offsets/3", "{"), file("offsets/3", "v1\n{}\n-")):
        assert spark.positions_of_many(other, ST) == Spark("0").positions_of_many(other, ST) == {}


def test_databricks_keeps_no_log_that_could_be_missing():
    files = tree(f"{HEAD}/s1")
    line = '[{"shard":{"stream":"st","shardId":"shardId-000000000000"},"lastSeqNum":""}]'
    found = read(files, lined(files, "offsets/0", {2: line}), without="sources")
    (candidate, *_) = Spark().candidates(found, {"release": "databricks"})
    assert isinstance(candidate.app, App)
    assert Spark().simulate_start(split_in_turn(1, ()), found, candidate.app).crash is None


def test_what_a_watch_sees_of_a_checkpoint():
    """A file more in a folder that a batch writes into, or one written again."""
    files, spark = tree("awslabs-head/s1"), Spark()
    def signs(*more):
        return spark.signs_of_life({**files, **{one.key: one for one in more}}.values())
    first = signs()
    again = Image("offsets/3", {**files["offsets/3"].attributes, "modified": {"N": "7"}})
    for more, folders in (
        (file("offsets/10", "v1"), {"offsets"}), (again, {"offsets"}), (Image("state/", {}), set()),
        (file("sources/0/shard-source/4/x", "x"), {"sources"}), (file("notes/1", "x"), set()),
    ):
        later = signs(more)
        assert {folder for folder in later if later[folder] != first.get(folder)} == folders
    assert "newest offsets/10," in signs(file("offsets/10", "v1"))["offsets"]


@pytest.mark.parametrize("nanos", [None, 1_795_219_500_000_000_000])
def test_when_positions_were_saved(nanos):
    files = tree("awslabs-head/s1")
    more = {"modified": {"N": str(nanos)}} if nanos else {}
    log = Image("offsets/3", {**files["offsets/3"].attributes, **more})
    found = Spark().saved_at(read(files, log))
    assert set(found.values()) == ({nanos / 1e9} if nanos else set())
    assert Spark().saved_at(read({"metadata": files["metadata"]})) == {}


def test_a_commit_ahead_of_the_offsets_is_an_error():
    """Run on 3.3.4 to 4.3.0: the batch runs again, then CONCURRENT_STREAM_LOG_UPDATE."""
    files = tree("awslabs-head/s1")
    assert "no offset log" in errors(read(files, without="offsets/3"))["commits/3"]


@pytest.mark.parametrize(("path", "refused"), [(f"{HEAD}/s1", False), (f"{V2}/s1", True)])
def test_without_metadata_spark_4_2_and_later_do_not_start(path, refused):
    """Run: 4.1.4 gives the query a new id; 4.2 says STREAMING_CHECKPOINT_MISSING_METADATA_FILE."""
    found = read(tree(path), without="metadata")
    assert ("metadata" in errors(found), "metadata" in remarks(found)) == (refused, not refused)


TEMPORARY = "offsets/.1.7f0c3a52-8c8e-4bd5-a7c4-6d1f0f3e4a11.tmp"


@pytest.mark.parametrize(("key", "error"), [
    (TEMPORARY, False),
    ("commits/.0.7f0c3a52-8c8e-4bd5-a7c4-6d1f0f3e4a11.TID12.tmp", False),
    ("offsets/0.orig", False),
    ("offsets/_SUCCESS", False),
    ("offsets/007", True),
    ("offsets/+1", True),
    ("offsets/-1", True),
    ("offsets/3/", True),
    ("offsets/backup/", False),
])  # fmt: skip
def test_strangers_in_spark_s_folders(key, error):
    """Names that are no numbers are passed by (runs E1 and E2, 3.3.4 to 4.3.0); `toLong` takes 007,
    +1 and -1 for numbers."""
    image = Image(key, {}) if key.endswith("/") else file(key, "x")
    found = read(tree(f"{HEAD}/s1"), image)
    assert list(found.batches) == [0]
    assert (key in errors(found), key in remarks(found)) == (error, not error)
    assert (key in found.temporary) == key.endswith(".tmp")


def test_an_orphaned_checksum_is_no_batch():
    """Run C6: the next write of that batch fails."""
    found = read(tree(f"{HEAD}/s1"), Image("offsets/1", {"crc": {"B": "Y3JjAAAAAgA="}}))
    assert (found.newest, set(found.orphans)) == (0, {"offsets/1"})
    assert "refuses to write" in remarks(found)["offsets/1"]
    commit = read(tree(f"{HEAD}/u1"), Image("commits/1", {"crc": {"B": "Y3JjAAAAAgA="}}))
    assert set(commit.committed) == {0}


@pytest.mark.parametrize(("recorded", "key"), [
    ("s1", "offsets/1"), ("s1", "commits/1"), ("u1", "offsets/2"), ("u1", "commits/1"),
])  # fmt: skip
def test_an_orphaned_checksum_of_what_is_written_next_stops_the_query(recorded, key):
    """Batch 0 of s1 is committed, batch 1 of u1 is not, and runs again."""
    found = read(tree(f"{HEAD}/{recorded}"), Image(key, {"crc": {"B": "Y3JjAAAAAgA="}}))
    crash = crash_of_spark(found, App(AWSLABS_HEAD, Start.TRIM_HORIZON))
    assert crash is not None and f"the checksum of {key} was left without its file" in crash.why


def test_a_stale_checksum_is_a_remark():
    """Run A1: the default checkpoint reader does not verify it."""
    files = tree(f"{HEAD}/s1")
    old = {**files["offsets/0"].attributes}
    old["crc"] = files["metadata"].attributes["crc"]
    found = read(files, Image("offsets/0", old))
    assert errors(found) == {}
    assert "not its own" in remarks(found)["offsets/0"]


LOG = "sources/0/shard-source"


@pytest.mark.parametrize(("batch", "image", "why"), [
    (0, file(f"{LOG}/0/_SUCCESS", ""), "no JSON"),
    (0, file(f"{LOG}/0/.{ZERO}.7f0c.tmp", "{}"), "missing"),
    (0, file(f"{LOG}/0/{ZERO}.orig", '{"shardId":"x"}'), "missing"),
    (0, file(f"{LOG}/0/{ZERO}", '{"shardId":"shardId-000000000000"'), "no JSON"),
    (0, file(f"{LOG}/0/{ZERO}", ""), "no JSON"),
    (0, Image(f"{LOG}/0/more/", {}), "folder"),
    (0, Image(f"{LOG}/0/{ONE}", {"bytes": {"B": "gIA="}}), "UTF-8"),
    # HDFSMetadataCommitter.add writes beside it, and get reads every file when batch 1 has run.
    (1, file(f"{LOG}/1/notes.txt", "kept"), "no JSON"),
    (1, Image(f"{LOG}/1/more/", {}), "folder"),
    (1, file(f"{LOG}/1", "kept"), "it is a file"),
])  # fmt: skip
def test_a_stray_file_in_the_log_that_is_read_next_is_an_error(batch, image, why):
    """Run R7: the query is dead."""
    found = read(tree(f"{HEAD}/s1"), image)
    assert found.strays == {batch: (image.key,)}
    assert why in errors(found)[image.key]


@pytest.mark.parametrize("name", ["notes.txt", "1.orig", "old/"])
def test_other_names_beside_the_folders_of_the_log_are_passed_by(name):
    """Batches are looked up by their number, and purge lists numbers (isBatchFile)."""
    for folder in (LOG, "sources/0"):
        key = f"{folder}/{name}"
        image = Image(key, {}) if name.endswith("/") else file(key, "kept")
        found = read(tree(f"{HEAD}/s1"), image)
        assert (found.strays, errors(found)) == ({}, {})


def test_an_empty_file_that_qubole_s_next_batch_writes_over_is_a_remark():
    log = "sources/0/shard-commit"
    found = read(tree(f"{QUBOLE}/s1"), file(f"{log}/1/{ZERO}", ""))
    assert errors(found) == {}
    assert "writes it again" in remarks(found)[f"{log}/1/{ZERO}"]
    assert "no JSON" in errors(read(tree(f"{QUBOLE}/s1"), file(f"{log}/1/{ONE}", "")))[
        f"{log}/1/{ONE}"
    ]


def test_a_stray_file_in_another_batch_s_log_is_a_remark():
    files = tree(f"{HEAD}/s1x")
    found = read(files, file(f"{LOG}/0/_SUCCESS", ""))
    assert errors(found) == {}
    assert f"{LOG}/0/_SUCCESS" in remarks(found)


def test_an_entry_under_another_name_is_the_shard_s_that_it_speaks_of():
    """HDFSMetadataCommitter goes by the content, and of several files by the last one."""
    files = tree(f"{HEAD}/s1")
    entry = text(files, f"{LOG}/0/{ZERO}")
    found = read(files, file(f"{LOG}/0/copy", entry))
    assert found.entries[0][ZERO].image.key == f"{LOG}/0/{ZERO}"
    assert found.strays == {} and errors(found) == {}
    assert "under another name" in remarks(found)[f"{LOG}/0/copy"]
    assert found.entries[0][ZERO].others == ()
    alone = read(files, file(f"{LOG}/0/copy", entry), without=f"{LOG}/0/{ZERO}")
    assert alone.entries[0][ZERO].image.key == f"{LOG}/0/copy"


@pytest.mark.parametrize("path", [f"{HEAD}/s1", f"{QUBOLE}/s1", f"{HEAD}/s1x", f"{HEAD}/u1",
                                  f"{QUBOLE}/u1"])  # fmt: skip
def test_a_committed_batch_without_its_log_has_its_log_elsewhere(path):
    """kinesis.metadataPath, kinesis.executor.metadata.path, or awslabs' DynamoDB table. u1 and s1x
    were recorded with a newest batch that is not committed: it begins where the last committed one
    ended, and that is in the log (HDFSMetadataCommitter of both connectors)."""
    files = tree(path)
    assert not log_elsewhere(read(files))
    found = read(files, without="sources")
    assert (found.entries, found.strays, 0 in found.listed) == ({}, {}, True)
    assert found.connector == ("qubole" if path.startswith("qubole") else "awslabs")
    assert any(batch.committed for batch in found.batches.values())
    assert log_elsewhere(found)
    begun = {key: image for key, image in files.items() if not key.startswith("commits/")}
    assert not log_elsewhere(read(begun, without="sources")), "a first batch has no log yet"


def test_an_offset_without_shards_is_known_by_its_history_or_its_log():
    files = tree(f"{HEAD}/s1x")
    bare = lined(files, "offsets/3", {2: '{"metadata":{"batchId":"3","streamName":"st"}}'})
    assert read(files, bare).connector == "awslabs"
    only = {"metadata": files["metadata"], "offsets/3": bare}
    assert read({**only, f"{LOG}/": Image(f"{LOG}/", {})}).connector == "awslabs"
    alone = read(only)
    assert alone.connector == "unknown"
    with pytest.raises(CannotTell, match="reads Kinesis in a way that reshardctl knows"):
        Spark().candidates(alone, {})


def test_a_batch_that_counts_backwards_breaks():
    """awslabs asserts prevBatchId <= currBatchId (issues 13 and 34 of its project)."""
    files = tree(f"{HEAD}/s1x")
    found = read(files, edited(files, "offsets/3", '"batchId":"3"', '"batchId":"1"'))
    assert "lower than 2" in found.batches[3].broken
    assert "lower than 2" in errors(found)["offsets/3"]


def test_a_history_of_another_connector_breaks_only_itself():
    files = tree(f"{HEAD}/s1x")
    line = line_of(tree(f"{QUBOLE}/s1"), "offsets/0")
    found = read(files, lined(files, "offsets/0", {2: line}))
    assert "spelled as qubole does" in found.batches[0].broken
    assert errors(found) == {}


def test_a_history_of_another_stream_is_said():
    files = tree(f"{HEAD}/s1x")
    found = read(files, edited(files, "offsets/0", '"streamName":"st"', '"streamName":"old"'))
    (anomaly,) = (one for one in found.anomalies if one.kind is AnomalyKind.EARLIER_STREAM)
    assert (anomaly.key, "stream old" in anomaly.why) == ("offsets/0", True)


def test_an_order_that_no_scala_writes_is_neither_s():
    """Spark 4 is built for Scala 2.13 alone: nobody writes 2.12's order under its settings."""
    files = tree(f"{HEAD}/u1")
    value = json.loads(line_of(files, "offsets/1"))
    turned = json.dumps(dict(reversed(value.items())), separators=(",", ":"))
    assert read(files, lined(files, "offsets/1", {2: turned})).scalas == frozenset()
    old, new = line_of(tree("awslabs-1.4.2-sdk/s1"), "offsets/0"), tree(f"{HEAD}/s1")
    assert read(new, lined(new, "offsets/0", {2: old})).scalas == frozenset()


@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_many_shards_in_every_line(count):
    """Linear: no timing here, but a quadratic reader would hang."""
    number = "49680000000000000000000000000000000000000000000000000018"
    positions = {shard_id(i): Position("AFTER_SEQUENCE_NUMBER", number) for i in range(count)}
    files = tree(f"{HEAD}/s1")
    line = awslabs.line("st", 0, positions, "2.13")
    found = read(files, lined(files, "offsets/0", {2: line}))
    assert len(found.batches[0].positions) == count
    assert found.scalas == {"2.13"}
    assert found.anomalies == ()


SMALL = {
    path: {key: one for key, one in tree(path).items() if "text" in one.attributes}
    for path in (f"{HEAD}/u1", f"{QUBOLE}/u1", "pyds/lineage")
}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_whatever_is_damaged_no_more_than_a_typed_error_comes(data):
    """Any file cut, emptied, garbled or gone."""
    files = dict(SMALL[data.draw(st.sampled_from(sorted(SMALL)))])
    for key in data.draw(st.lists(st.sampled_from(sorted(files)), min_size=1, max_size=3)):
        if key not in files or "text" not in files[key].attributes:
            continue
        whole = text(files, key)
        at = data.draw(st.integers(0, len(whole)))
        new = data.draw(st.sampled_from(["", "{", "null", "[]", "\n", '"', "é", "v2", "0", whole]))
        kind = data.draw(st.sampled_from(["cut", "put", "gone", "bytes"]))
        if kind == "gone":
            del files[key]
        elif kind == "bytes":
            files[key] = Image(key, {"bytes": {"B": "gIA="}})
        else:
            files[key] = file(key, whole[:at] + new + (whole[at:] if kind == "put" else ""))
    try:
        found = checkpoint_of(files.values(), ST)
    except ReshardError as error:
        assert error.what
    else:
        assert all(anomaly.why and anomaly.key for anomaly in found.anomalies)
