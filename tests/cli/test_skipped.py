"""`--skipped FILE`: what a start skips, as intervals that a batch reads beside it.

What the moved consumer delivers is played by the reference consumer; what the intervals hold is
read by the source's own reader. Together they are what the consumer delivers without a skip.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from reshardctl.errors import UsageError
from reshardctl.kinesis import Kinesis
from reshardctl.kinesis.fast import FastReader, Overtaken, ShardGone
from reshardctl.spark.source.intervals import intervals_in, stretches_of
from tests.cli.lab import LATEST, Lab
from tests.proof.reference.kcl import run
from tests.support.fake_time import sleep_of
from tests.unit.spark.source.drive import InProcess

pytestmark = pytest.mark.lab("a-both", LATEST)

SCHEMA = json.loads(files("reshardctl.snapshot").joinpath("skipped.schema.json").read_text())
PINNED = ("--policy", "latest")
AGAIN = {"S": "TRIM_HORIZON"}


def backfilled(lab: Lab, file: Path, *, strict: bool = True) -> list[str]:
    """The payloads of the intervals, each as often as it is read."""
    fake = lab.fake
    lists = Kinesis.of_client(fake.client(), clock=fake.clock.now, sleep=sleep_of(fake))
    reach = InProcess("us-east-1", fake=fake)
    reads = FastReader(reach, lab.stream, clock=fake.clock.now, sleep=sleep_of(fake))
    lineage = lists.lineage(lab.stream)
    came = []
    for one in stretches_of(intervals_in(str(file)), lineage, unpack=True, strict=strict):
        pages = reads.after(
            one.shard, one.begin, one.until, to_end=one.to_end, unread=one.unread
        )
        records = [record for page in pages for record in page.records]
        if one.head is not None and records[0].sequence_number == one.begin.value:
            del records[0]  # a plain record has one user record, which is left out
        came += [record.data.decode() for record in records]
    return came


def delivered(lab: Lab) -> list[str]:
    return run(lab.fake, lab.stream, list(lab.items().values()), "LATEST", "3.5.1").order


def written(lab: Lab, file: Path, *more: str) -> dict[str, Any]:
    done = lab.fix("--created", lab.created, "--skipped", file, *more)
    assert done.code in (0, 1), done.err
    found: dict[str, Any] = json.loads(file.read_text())
    Draft202012Validator(SCHEMA).validate(found)
    return found


@pytest.mark.parametrize("policy", [
    "latest", "at-timestamp=@reshard", "at-timestamp=-10m", "at-timestamp=-3m",
])  # fmt: skip
@pytest.mark.parametrize("case", ["a-both", "healthy-split-cleaned", "healthy-merge-waiting"])
def test_the_batch_and_the_consumer_have_each_unread_record_once(lab_of, tmp_path, case, policy):
    whole = lab_of(case, LATEST)
    whole.fix("--created", whole.created)
    unread = delivered(whole)
    lab = lab_of(case, LATEST)
    file = tmp_path / "skipped.json"
    found = written(lab, file, "--policy", policy, "--accept", "reread=all")
    assert file.stat().st_mode & 0o777 == 0o600
    assert all(part["certain"] for part in found["intervals"])
    came = backfilled(lab, file)
    read = delivered(lab)
    assert not set(came) & set(read)
    assert set(unread) <= {*came, *read} and len(came) == len(set(came))
    assert set(came) <= set(unread)


def test_a_plan_that_is_applied_later_saves_the_same(lab, tmp_path):
    plan, early, late = tmp_path / "p.plan", tmp_path / "early.json", tmp_path / "late.json"
    assert lab.dry(*PINNED, "--out", plan, "--skipped", early).code == 1
    lab.fake.clock.advance(300)
    lab.fake.put(lab.stream, 1, "later", "k")
    done = lab.apply(plan, "--created", lab.created,
                   "--accept", "skip=1h", "--skipped", late)  # fmt: skip
    assert done.code == 0, done.err
    assert "saved what the next start skips" in done.err and str(late) in done.err
    both = [json.loads(file.read_text())["intervals"] for file in (early, late)]
    assert both[0] == both[1] != []
    assert "later" not in backfilled(lab, late)


def test_inspect_saves_what_the_rows_as_they_are_skip(lab_of, tmp_path):
    """A closed shard without a row that may have been read: its interval is not certain."""
    lab = lab_of("merge-coparent-lost", LATEST)
    file = tmp_path / "skipped.json"
    lab.inspect("--skipped", file)
    (part,) = json.loads(file.read_text())["intervals"]
    assert part["shard"] == "shardId-000000000001" and part["certain"] is False
    came, read = backfilled(lab, file), delivered(lab)
    assert came == [r.payload.decode() for r in lab.fake.stream("orders").shards[1].records]
    assert not set(came) & set(read)


def test_a_new_application_hands_over_what_came_before_its_start(lab_of, tmp_path):
    lab = lab_of("a-both", LATEST, items=[])
    file = tmp_path / "skipped.json"
    written(lab, file, "--bootstrap", "--policy", "at-timestamp=-10m")
    came, read = backfilled(lab, file), delivered(lab)
    every = [r.payload.decode() for s in lab.fake.stream("orders").shards.values()
             for r in s.records]
    assert sorted(came + read) == sorted(every) and came and read


def test_what_has_expired_is_not_handed_over(lab_of, tmp_path):
    """Nobody can read it any more: the position is older than the stream's retention."""
    lab = lab_of("number-expired", LATEST)
    file = tmp_path / "skipped.json"
    inspected = lab.inspect("--skipped", file)
    assert "RSH204" in inspected.out and json.loads(file.read_text())["intervals"] == []


def test_nothing_skipped_is_a_file_without_intervals(lab_of, tmp_path):
    lab = lab_of("healthy-split-cleaned", LATEST)
    file = tmp_path / "skipped.json"
    assert lab.inspect("--skipped", file).code == 0
    assert json.loads(file.read_text())["intervals"] == [] == backfilled(lab, file)


def test_no_file_of_a_fix_that_writes_nothing(lab_of, tmp_path):
    lab = lab_of("healthy-roots", LATEST)
    file = tmp_path / "skipped.json"
    asked = lab.cli("fix", *lab.where, "--created", lab.created, *PINNED, "--skipped", file)
    assert asked.code == 4 and not file.exists()
    lab.wire.do("UpdateItem", lambda: [lab.alter(key, checkpoint=AGAIN) for key in lab.items()])
    refused = lab.fix("--created", lab.created, *PINNED, "--skipped", file)
    assert refused.code == 4 and "saved what the next start skips" in refused.err
    assert not file.exists()


def test_an_existing_file_is_not_replaced(lab, tmp_path):
    file = tmp_path / "skipped.json"
    file.write_text("mine")
    for words in (lab.inspect, lab.dry, lab.fix):
        refused = words("--skipped", file)
        assert refused.code == 2 and refused.says("exists already", "--skipped")
    assert file.read_text() == "mine" and lab.wire.calls == []


def test_an_end_that_each_start_decides_is_refused_by_the_batch(lab, tmp_path):
    file = tmp_path / "skipped.json"
    found = written(lab, file, "--policy", "latest-at-start")
    assert {part["until"]["kind"] for part in found["intervals"]} == {"LATEST"}
    with pytest.raises(UsageError, match="decided at the application's start"):
        backfilled(lab, file)


def changed(file: Path, **members: Any) -> None:
    body = json.loads(file.read_text())
    body.update(members)
    file.write_text(json.dumps(body))


@pytest.mark.parametrize(("members", "words"), [
    ({"stream": {"arn": "arn:aws:kinesis:us-east-1:123456789012:stream/other",
                 "created": "2026-11-21T00:00:00Z"}}, "are of arn:.*stream/other"),
    ({"stream": {"arn": "arn:aws:kinesis:us-east-1:123456789012:stream/orders",
                 "created": "2026-11-20T00:00:00Z"}}, "created 2026-11-20T00:00:00Z, and not of"),
    ({"schema": "reshardctl/positions/1"}, "not intervals of this version"),
    ({"intervals": [{"shard": "x", "after": None, "until": None, "certain": True}]}, "no shard id"),
    ({"intervals": [1]}, r"intervals\[0\]"),
])  # fmt: skip
def test_a_file_of_something_else(lab, tmp_path, members, words):
    file = tmp_path / "skipped.json"
    written(lab, file, *PINNED)
    changed(file, **members)
    with pytest.raises(UsageError, match=words):
        backfilled(lab, file)


def test_what_has_expired_is_said(lab, tmp_path):
    """Not an empty batch; failOnDataLoss false reads what is left."""
    file = tmp_path / "skipped.json"
    written(lab, file, *PINNED)
    whole = backfilled(lab, file)
    lab.fake.clock.advance(24 * 3600 - 600)
    with pytest.raises(Overtaken, match="may be gone"):
        backfilled(lab, file)
    left = backfilled(lab, file, strict=False)
    assert left != whole and set(left) < set(whole)


def test_a_shard_that_is_gone_is_said(lab, tmp_path):
    file = tmp_path / "skipped.json"
    found = written(lab, file, *PINNED)
    text = json.dumps(found["intervals"]).replace("shardId-000000000003", "shardId-000000000007")
    changed(file, intervals=json.loads(text))
    with pytest.raises(ShardGone, match="shardId-000000000007: not listed any more"):
        backfilled(lab, file)
    assert backfilled(lab, file, strict=False)
