"""Spark's own logs: offsets/N and commits/N, as Spark 3.3.4 to 4.3.0 wrote them."""

from __future__ import annotations

import pytest

from reshardctl.consumers.spark.offset_log import (
    TIMESTAMP,
    WATERMARK,
    flaw_of_conf,
    generation,
    parse_commit_log,
    parse_offset_log,
    with_times,
)
from reshardctl.consumers.spark.spark_json import Malformed
from tests.support.checkpoint_files import GOLDEN, by_build, checkpoints


def logs(folder: str):
    found = [p for c in checkpoints() for p in (c / folder).iterdir() if p.name.isdigit()]
    return sorted(found)


OFFSETS, COMMITS = logs("offsets"), logs("commits")


@by_build(OFFSETS)
def test_an_offset_log_is_written_back_byte_for_byte(path):
    text = path.read_bytes().decode()
    assert parse_offset_log(text).text() == text


@by_build(COMMITS)
def test_a_commit_log_is_written_back_byte_for_byte(path):
    text = path.read_bytes().decode()
    assert parse_commit_log(text).source == text


def test_all_recorded_logs_are_here():
    """A file that git lost would go unnoticed otherwise."""
    assert (len(OFFSETS), len(COMMITS)) == (133, 127)


def test_a_newline_at_the_end_is_kept():
    """Spark tolerates one (runs, November 2026)."""
    text = (GOLDEN / "spark-4.3.0/v2n/offsets/0").read_text() + "\n"
    assert parse_offset_log(text).text() == text
    assert parse_commit_log('v1\n{"nextBatchWatermarkMs":7}\n').source.endswith("}\n")


@pytest.mark.parametrize(("path", "version", "names"), [
    ("spark-4.3.0/v2n/offsets/1", 2, ["kin_a", "kin_b"]),
    ("spark-4.3.0/v2/offsets/1", 2, ["1", "0"]),
    ("awslabs-head-0f4c005-spark-4.3/s1/offsets/0", 2, ["0"]),
    ("awslabs-head-0f4c005/s1/offsets/0", 1, ["0"]),
])  # fmt: skip
def test_sources_have_the_names_that_the_log_gives_them(path, version, names):
    log = parse_offset_log((GOLDEN / path).read_text())
    assert (log.version, [line.name for line in log.lines]) == (version, names)


def test_one_source_changes_and_every_other_byte_stays():
    before = (GOLDEN / "spark-4.3.0/v2/offsets/1").read_text()
    log = parse_offset_log(before)
    after = log.replacing("0", '{"offset":1,"timestamp":2}').text()
    assert after == before.replace(f"0:{log['0']}", '0:{"offset":1,"timestamp":2}')
    assert after != before
    gone = log.replacing("0", "-").line("0")
    assert gone is not None and not gone.is_offset
    first = parse_offset_log("v1\n{}\n-\n-").replacing("1", "x").text()
    assert first == "v1\n{}\n-\nx"


def test_a_source_is_named_exactly():
    log = parse_offset_log("v2\n{}\nkin:{}\nkin_b:-")
    assert (log["kin"], log["kin_b"], log.line("ki")) == ("{}", "-", None)
    for ask in (lambda: log.replacing("ki", "{}"), lambda: log["ki"]):
        with pytest.raises(KeyError):
            ask()
    with pytest.raises(ValueError, match="one line"):
        log.replacing("kin", "{}\n{}")


@pytest.mark.parametrize(("text", "why"), [
    ("", "empty"),
    ("v1", "ends after its first line"),
    ("v1\n{}", "names no source"),
    ("v1\n{}\n", "names no source"),
    ("v0\n{}\n{}", "'v0'"),
    ("1\n{}\n{}", "'1'"),
    ("v1\r\n{}\r\n", "names no source"),
    ("{}\n{}", "'{}'"),
    ("v1\n{}\n{}\n\n{}", "line 4 is empty"),
    ("v2\n{}\nkin", "source:offset"),
    ("v2\n{}\n:{}", "source:offset"),
    ("v2\n{}\nkin:", "source:offset"),
    ("v2\n{}\nkin:{}\nkin:{}", "twice"),
])  # fmt: skip
def test_what_is_no_offset_log_says_why(text, why):
    with pytest.raises(Malformed, match=why):
        parse_offset_log(text)


# Runs on Spark 3.5.9, 4.0.5 and 4.3.0 (November 2026): with these the query fails at its start.
@pytest.mark.parametrize(("text", "why"), [
    ("", "empty"),
    ("\n", "''"),
    ("v1\n\n", "no JSON"),
    ("{}", "'{}'"),
    ("v0\n{}", "'v0'"),
    ("x1\n{}", "'x1'"),
    ('v1\n{"nextBatch', "no JSON"),
    ("v1\nnull", "null"),
    ('v1\n{"nextBatchWatermarkMs":"7"}', "not a number"),
    ('v1\n{"nextBatchWatermarkMs":true}', "not a number"),
    ("\0\0\0", "first line"),
])  # fmt: skip
def test_what_is_no_commit_log_says_why(text, why):
    with pytest.raises(Malformed, match=why):
        parse_commit_log(text)


# With these it goes on, in the same runs.
@pytest.mark.parametrize("text", [
    "v1", "v1\n", "v1\r\n{}", " v1 \n{}", "v1\n{}\n{}", "v1\n[]", "v1\n[1]", "v1\n7",
    'v1\n"x"', 'v1\n{"nextBatchWatermarkMs":1.5}', 'v1\n{"nextBatchWatermarkMs":null}',
    'v1\n{"other":1}',
])  # fmt: skip
def test_an_odd_commit_log_that_spark_reads(text):
    assert parse_commit_log(text).version == 1


RELEASES = {
    "qubole-kinesis-sql": "3", "awslabs-1.4.2": "3", "qubole-1.2.0_spark-3.0": "3",
    "awslabs-1.4.2-sdk": "3", "awslabs-head": "4.0-4.1", "awslabs-head-0f4c005": "4.0-4.1",
    "spark-4.2.1": "4.2", "spark-4.3.0": "4.3", "awslabs-head-0f4c005-spark-4.3": "4.3",
}
"""Which Spark wrote which golden checkpoint (tests/golden/spark/README.md)."""


@pytest.mark.parametrize("build", RELEASES)
def test_the_settings_tell_the_release_of_spark(build):
    found = {
        generation(parse_offset_log(path.read_text()).metadata)
        for checkpoint in checkpoints(build)
        for path in (checkpoint / "offsets").iterdir() if path.name.isdigit()
    }
    assert found == {RELEASES[build]}


@pytest.mark.parametrize("line", ["", "{}", '{"conf":{}}', '{"conf":[]}', "x", "[]"])
def test_a_line_without_settings_tells_no_release(line):
    assert generation(line) == ""


PLANNED = [path for path in OFFSETS if "continuous" not in path.parts]


@by_build(PLANNED)
def test_only_the_times_of_a_second_line_change(path):
    line = parse_offset_log(path.read_text()).metadata
    moved = with_times(line, 7, 9)
    assert f'"{TIMESTAMP}":7,' in moved
    assert f'"{WATERMARK}":9,' in moved
    head, rest = line.split('"conf":', 1)
    assert moved.endswith('"conf":' + rest)
    assert len(head.split(",")) == len(moved.split('"conf":')[0].split(","))
    assert flaw_of_conf(line) == ""


def test_a_time_inside_the_settings_is_not_taken_for_the_line_s_own():
    line = '{"conf":{"a":"\\"batchTimestampMs\\":1","batchTimestampMs":1},"batchTimestampMs":2}'
    with pytest.raises(Malformed, match=WATERMARK):
        with_times(line, 5, 6)
    for text, why in (("x", "Expecting value"), ("[]", "not an object but a list")):
        with pytest.raises(Malformed, match=why):
            with_times(text, 5, 6)
    whole = line[:-1] + ', "batchWatermarkMs": 3}'
    assert with_times(whole, 5, 6) == whole.replace(":2,", ":5,").replace(": 3}", ": 6}")


def test_a_commit_of_state_with_ids_says_so():
    """Commit log v2: Spark 4.3.0 with stateStore.checkpointFormatVersion=2."""
    commit = parse_commit_log((GOLDEN / "spark-4.3.0-modes/state-v2/commits/1").read_text())
    assert (commit.version, commit.watermark, commit.state_ids) == (2, 0, True)
    plain = parse_commit_log((GOLDEN / "spark-4.2.1/v2/commits/1").read_text())
    assert (plain.version, plain.watermark, plain.state_ids) == (1, 0, False)


def test_a_continuous_query_has_no_second_line():
    path = GOLDEN / "spark-4.3.0-modes/continuous/offsets/8"
    assert "continuous" in flaw_of_conf(parse_offset_log(path.read_text()).metadata)


@pytest.mark.parametrize(("line", "why"), [
    ("", "continuous"), ("{", "unreadable"), ("null", "null"),
    ('{"batchWatermarkMs":{}}', "batchWatermarkMs is not a number but an object"),
    ('{"batchTimestampMs":"7"}', "batchTimestampMs is not a number"),
    ('{"batchTimestampMs":true}', "batchTimestampMs is not a number"),
    ('{"batchTimestampMs":1,"batchTimestampMs":1}', "given twice"),
    ('{"conf":[]}', "conf is not an object"), ('{"conf":"x"}', "conf is not an object"),
    ('{"conf":{},"conf":{}}', "given twice"), ('{"conf":{"a":{}}}', "not a string"),
    ('{"conf":{"a":true}}', "not a string"), ('{"x":NaN}', "NaN"),
])  # fmt: skip
def test_a_second_line_that_spark_cannot_use_says_why(line, why):
    """Empty: ContinuousExecution adds offsets without metadata; run on 3.5.9 and 4.1.4: a
    micro-batch query dies of it. The others: OffsetSeqMetadata of 3.5.9, 4.0.5 and 4.3.0 throws."""
    assert why in flaw_of_conf(line)


# OffsetSeqMetadata of Spark 3.5.9, 4.0.5 and 4.3.0 reads these (runs, November 2026).
@pytest.mark.parametrize("line", [
    "[]", "7", '"x"', "{}", "{} x", '{"a":1}}', '{"conf":null}', '{"conf":{"a":1.5,"b":null}}',
    '{"conf":{"a":"x","a":"y"}}', '{"x":1,"x":2}', '{"batchTimestampMs":null}',
    '{"batchTimestampMs":1e999}', '{"batchTimestampMs":9223372036854775808}', "{}\0\0",
    '{"sourceMetadataInfo":7}',
])  # fmt: skip
def test_an_odd_second_line_that_spark_reads(line):
    assert flaw_of_conf(line) == ""


# What CommitMetadata of Spark 3.5.9, 4.0.5 and 4.3.0 makes of them (runs, November 2026).
@pytest.mark.parametrize(("spelled", "watermark"), [
    ("1e999", 2**63 - 1), ("-1e999", -(2**63)), ("1e30", 2**63 - 1), ("-1.5", -1), ("1e5", 100_000),
    ("9223372036854775808", -(2**63)), ("1" + "0" * 400, 0), ("null", 0),
])  # fmt: skip
def test_an_odd_watermark(spelled, watermark):
    assert parse_commit_log(f'v1\n{{"nextBatchWatermarkMs":{spelled}}}').watermark == watermark


def test_a_number_of_1000_digits_is_still_read():
    """Jackson's StreamReadConstraints.DEFAULT_MAX_NUM_LEN."""
    assert parse_commit_log(f'v1\n{{"nextBatchWatermarkMs":1{"0" * 999}}}').watermark == 0


@pytest.mark.parametrize(("text", "why"), [
    ('{"nextBatchWatermarkMs":NaN}', "NaN"), ('{"nextBatchWatermarkMs":-Infinity}', "Infinity"),
    ('{"x":[NaN]}', "NaN"), ('{"nextBatchWatermarkMs":[7]}', "not a number"),
    ('{"nextBatchWatermarkMs":1,"nextBatchWatermarkMs":1}', "given twice"),
    ('{"nextBatchWatermarkMs":' + "9" * 1001 + "}", "1001 digits"),
], ids=lambda text: text[:40])  # fmt: skip
def test_a_commit_that_spark_cannot_read(text, why):
    """CommitMetadata of Spark 3.5.9, 4.0.5 and 4.3.0 throws (runs, November 2026)."""
    with pytest.raises(Malformed, match=why):
        parse_commit_log(f"v1\n{text}")


@pytest.mark.parametrize("brk", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("tail", [False, True])
def test_any_line_break_ends_a_line(brk, tail):
    """OffsetSeqLog.deserialize: scala.io.Source.getLines (BufferedReader.readLine); a CRLF file was
    read (run, November 2026)."""
    text = brk.join(["v1", "{}", '{"a":1}', "-"]) + brk * tail
    log = parse_offset_log(text)
    assert ([line.text for line in log.lines], log.metadata) == (['{"a":1}', "-"], "{}")
    assert log.text() == text
    assert log.replacing("0", "x").text() == text.replace('{"a":1}', "x")


def test_other_separators_are_part_of_a_line():
    assert parse_offset_log("v1\n{}\na\x0bb\u2028c")["0"] == "a\x0bb\u2028c"
