"""Spoiled files of a checkpoint from end to end: mended, and taken back byte for byte.

Which of them Spark reads: OffsetSeqMetadata, CommitMetadata and StreamMetadata of Spark 3.5.9,
4.0.5 and 4.3.0 (runs, November 2026).
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.cli.spark_lab import HEAD, QUBOLE, V1, SparkLab, spark_lab

Make = Callable[..., SparkLab]
ACCEPT = ("--accept", "skip=0s,reread=9999h,disorder")
DEEP = b"[" * 3000 + b"]" * 3000


@pytest.fixture
def golden(entered, servers, tmp_path, monkeypatch, wire) -> Make:
    """A lab of a recorded checkpoint."""
    return lambda release, shape: entered.enter_context(
        spark_lab(release, shape, servers, tmp_path, monkeypatch, wire)
    )


def contents(lab: SparkLab) -> dict[str, bytes]:
    return {name: content for name, (content, _) in lab.files().items()}


# The id "x" is a text that StreamMetadata.read takes, and no UUID: the query fails at its start.
@pytest.mark.parametrize("spoiled", [
    b'{"id":"x"}', b'{"id":"b676ei6c-aa62-43be-9bc4-55aede91759e"}', b'{"id":"\\ud800"}',
    b'{"id":"69880f2a\xff-f006-496b-9513-9120bf42d838"}', b"\xff\xfe{\0}\0", b"\0" * 512,
    '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}'.encode("utf-16"),
    b'{"id":' + DEEP + b"}", b"",
], ids=lambda content: repr(content[:24]))  # fmt: skip
def test_the_id_of_a_query_is_mended_and_taken_back(golden, spoiled):
    lab = golden(V1, "s1")
    (lab.root / "metadata").write_bytes(spoiled)
    (lab.root / ".metadata.crc").unlink(missing_ok=True)
    before = contents(lab)
    seen = lab.inspect("--format", "json")
    assert seen.code == 1 and "RSH301" in seen.codes, seen.err
    assert lab.fix(*ACCEPT, "--created", lab.created).code == 0
    assert lab.inspect("--format", "json").code == 0
    undone = lab.undo()
    assert undone.code in (0, 1), undone.err
    assert contents(lab) == before


@pytest.mark.parametrize(("release", "log"), [(QUBOLE, "shard-commit"), (HEAD, "shard-source")])
def test_a_folder_in_the_log_of_a_planned_batch_is_not_removed(golden, release, log):
    """The connectors open every name in it (HDFSMetadataCommitter.get); what is in it is nobody's
    to delete."""
    lab = golden(release, "u1")
    folder = lab.root / "sources" / "0" / log / "1" / "tmp"
    folder.mkdir(parents=True)
    before = contents(lab)
    shown = lab.dry(*ACCEPT, "--format", "json")
    assert shown.json["decision"]["kind"] == "no-safe-plan"
    assert f"sources/0/{log}/1/tmp/" in shown.out
    assert lab.fix(*ACCEPT, "--created", lab.created).code == 1
    assert contents(lab) == before and lab.journals() == []


@pytest.mark.parametrize(("spelled", "verb"), [
    ("NaN", "inspect"), ("NaN", "status"), ("NaN", "export"), ("Infinity", "inspect"),
    ("1e999", "status"), ("-1e999", "export"), ("9" * 5000, "inspect"),
])  # fmt: skip
def test_a_watermark_of_no_time(golden, spelled, verb):
    lab = golden(QUBOLE, "s3")
    newest = max(int(p.name) for p in (lab.root / "commits").iterdir() if p.name.isdigit())
    commit = lab.root / "commits" / str(newest)
    commit.write_text(f'v1\n{{"nextBatchWatermarkMs":{spelled}}}')
    commit.with_name(f".{newest}.crc").unlink()
    ended = lab.cli(verb, *lab.where)
    assert ended.code in (0, 1), ended.err
    if verb == "inspect":
        unread = spelled not in ("1e999", "-1e999")
        assert (f"commits/{newest} cannot be read" in ended.out) is unread


@pytest.mark.parametrize("name", ["\\ud800", "..", "", "a/../../b", "x\\u0000y"])
def test_a_shard_that_no_file_can_be_called_after(golden, name):
    """A hand edited the offset; the journal of its fix was written, and then it crashed."""
    lab = golden(HEAD, "s1")
    log = lab.root / "offsets" / "0"
    text = log.read_text()
    assert "shardId-000000000000" in text
    log.write_text(text.replace("shardId-000000000000", name))
    log.with_name(".0.crc").unlink()
    for verb in ("inspect", "status"):
        ended = lab.cli(verb, *lab.where)
        assert ended.code in (0, 1, 2, 3), ended.err
        assert "defect" not in ended.err, ended.err
    fixed = lab.fix(*ACCEPT, "--created", lab.created)
    assert fixed.code in (0, 1), fixed.err


@pytest.mark.parametrize(("release", "damage", "once", "fix"), [
    (V1, "no commit", "commits/0 cannot be read: it is empty", "remove commits/0"),
    (QUBOLE, "no commit", "commits/0 cannot be read: it is empty", "remove commits/0"),
    (HEAD, "no log", "the connector's log of it is missing", "plan batch 1"),
])
def test_a_finding_that_is_alone_says_once_what_it_is_and_what_the_plan_does(
    golden, release, damage, once, fix
):
    lab = golden(release, "s1")
    if damage == "no commit":
        (lab.root / "commits" / "0").write_bytes(b"")
        (lab.root / "commits" / ".0.crc").unlink(missing_ok=True)
    else:
        for file in (lab.root / "sources").rglob("*/0/*"):
            file.unlink()
    for form in ("text", "github"):
        shown = " ".join(lab.inspect("--format", form).out.split())
        assert shown.lower().count(once.lower()) == 1, shown
        assert "other findings" not in shown
        assert re.search(rf"fix:? +{fix}", shown, re.IGNORECASE), shown
