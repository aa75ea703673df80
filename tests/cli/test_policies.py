"""Policies by time and counting, on the command line."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from reshardctl.model import shard_id
from reshardctl.model.times import instant
from reshardctl.planning.effects import GRACE
from tests.cli.lab import LATEST
from tests.cli.test_probe import case, drained
from tests.proof.reference.kcl import run

pytestmark = pytest.mark.lab("a-both", LATEST)


def at(lab, seconds: float) -> str:
    return f"at-timestamp={instant(lab.fake.stream(lab.stream).created + seconds)}"


@pytest.mark.parametrize("place", ["LATEST", "its last number"])
def test_a_given_position_skips_what_lies_before_it_though_a_parent_holds_its_shard_back(
    lab, place
):
    """KCL starts no shard before its parent has ended; once that is mended, 2 starts there."""
    lab.alter(shard_id(0), checkpoint=lab.items()[shard_id(1)]["checkpoint"])
    records = lab.fake.stream(lab.stream).shards[2].records
    before, given = lab.items(), "LATEST" if place == "LATEST" else records[-1].number
    refused = lab.fix("--set", f"2={given}", "--created", lab.created)
    assert refused.code == 4 and refused.says("--accept skip="), refused.out + refused.err
    assert lab.items() == before
    shown = lab.dry("--set", f"2={given}", "--format", "json").json["decision"]
    assert {effect["shard"] for effect in shown["price"] if effect["harm"] == "skipped"} \
        == {shard_id(2)}


def test_a_policy_for_some_shards_skips_in_those_that_it_writes(lab):
    """2 has to be written too, as 0 would start it at TRIM_HORIZON."""
    lab.alter(shard_id(0), checkpoint=lab.items()[shard_id(1)]["checkpoint"])
    shown = lab.dry("--policy", "latest", "--shards", "2", "--format", "json").json["decision"]
    written = {write["key"] for step in shown["steps"] for write in step["writes"]}
    assert shard_id(2) in written and shard_id(1) not in written
    assert {effect["shard"] for effect in shown["costs"]} <= written
    assert shard_id(2) in {effect["shard"] for effect in shown["costs"]}


@pytest.mark.parametrize(("limit", "skipped"), [
    ("skip=0s", set()), ("skip=12m", {2, 3}), ("skip=all", {1, 2, 3}),
    ("reread=1h", {1, 2, 3}),
])  # fmt: skip
def test_a_named_limit_holds_for_what_a_policy_skips(lab, limit, skipped):
    """In 1 it skips 13 minutes of the stream (from 460 to 1260 s), in 2 and 3 eleven."""
    shown = lab.dry("--policy", "latest", "--accept", limit, "--format", "json").json["decision"]
    written = {write["key"] for step in shown.get("steps", ()) for write in step["writes"]}
    assert written == set(map(shard_id, skipped)), shown


def test_a_saved_plan_keeps_the_limit_that_was_named(lab_of, tmp_path):
    lab, plan = lab_of("a-both", LATEST), tmp_path / "a.plan"
    before, words = lab.items(), ("--created", lab.created, "--accept", "skip=12m")
    assert lab.dry("--policy", "latest", "--out", plan, *words).code == 1
    done = lab.apply(plan, *words)
    assert done.code in (0, 1), done.out + done.err
    assert lab.items()[shard_id(1)] == before[shard_id(1)]
    assert {shard_id(2), shard_id(3)} <= lab.items().keys()


def test_no_sentinel_of_the_store_s_own_is_written(lab):
    for policy in ("latest", at(lab, 700), "at-timestamp=-10m", "at-timestamp=@reshard"):
        steps = lab.dry("--policy", policy, "--format", "json", "--accept", "reread=all")
        written = {
            write["set"]["checkpoint"]["S"] for step in steps.json["decision"]["steps"]
            for write in step["writes"] if "checkpoint" in write["set"]
        }
        assert written and not {"LATEST", "AT_TIMESTAMP"} & written


@pytest.mark.parametrize("command", ["dry", "inspect"])
def test_the_printed_command_has_the_time_of_what_was_shown(lab, command):
    """`-10m` means another time once the command is run."""
    time = instant(lab.fake.clock.now() - 600)
    shown = getattr(lab, command)("--policy", "at-timestamp=-10m", "--format", "text")
    commands = shown.out.replace("\\\n", "").partition("reshardctl fix")[2]
    assert f"--policy at-timestamp={time}" in commands and "=-10m" not in commands


def test_the_cost_is_printed_by_shard_in_time_and_in_records(lab):
    words = ("--policy", "latest", "--format", "text")
    plain, counted = lab.dry(*words), lab.dry(*words, "--count")
    assert "policy latest skips intentionally:" in counted.out
    held = lab.fake.stream(lab.stream).shards
    for shard in (2, 3):
        width = _row(plain.out, shard)
        assert "up to" in width and "records" not in width
        assert f"{len(held[shard].records)} records" in _row(counted.out, shard)


def _row(text: str, shard: int) -> str:
    """A shard's line in the table of changes."""
    marks = (["+", str(shard)], ["~", str(shard)])
    (line,) = [line for line in text.splitlines() if line.split()[:2] in marks]
    return line


def test_a_count_that_ends_early_says_at_least(lab):
    words = ("--policy", "latest-at-start", "--count", "--format")
    found = lab.dry(*words, "json", "--probe-budget", "calls=3").json["decision"]["costs"]
    assert any(e["records"]["at_least"] for e in found)
    text = lab.dry(*words, "markdown", "--probe-budget", "calls=3").out
    assert re.search(r"at least \S+, [04] records", text)


def test_an_inspection_counts_what_is_lost(lab):
    (finding,) = [
        f for f in lab.inspect("--count", "--format", "json").json["findings"]
        if f["code"] == "RSH203"
    ]
    held = lab.fake.stream(lab.stream).shards
    for effect in finding["effects"]:
        assert effect["records"]["count"] == len(held[int(effect["shard"][-2:])].records)
        assert not effect["records"]["at_least"]
    assert "4 records left, arrived " in lab.inspect("--count", "--format", "text").out


@pytest.mark.parametrize(("policy", "words"), [
    ("at-timestamp=2031-01-01T00:00:00Z", ("in the future", "--policy latest")),
    ("at-timestamp=2020-01-01T00:00:00Z", ("was created later",)),
    ("at-timestamp=-300d", ("was created later",)),
])  # fmt: skip
def test_a_time_that_makes_no_sense_is_a_usage_error(lab, policy, words):
    refused = lab.fix("--policy", policy)
    assert refused.code == 2 and refused.says(*words)
    assert lab.wire.writes == [] and "GetRecords" not in [o for _, o in lab.wire.calls]


def test_a_time_without_a_reshard(lab_of):
    refused = lab_of("healthy-roots", LATEST).dry("--policy", "at-timestamp=@reshard")
    assert refused.code == 2 and refused.says("@reshard", "ever split or merged")


def test_a_time_before_the_retention_is_clamped_and_told(lab):
    lab.fake.clock.advance(26 * 3600 - 1000)
    shown = lab.dry("--policy", at(lab, 60), "--format", "text", "--accept", "reread=all")
    assert "is before the oldest record that the stream keeps" in " ".join(shown.out.split())
    assert "GetRecords" not in [o for _, o in lab.wire.calls]


def test_what_could_not_be_found_is_not_guessed(lab):
    lab.wire.calls.clear()
    refused = lab.fix(
        "--policy", at(lab, 700), "--probe-budget", "calls=2", "--created", lab.created
    )
    assert refused.code == 3 and refused.says("was not found", "--probe-budget")
    assert lab.wire.writes == []
    assert len([o for _, o in lab.wire.calls if o in ("GetRecords", "GetShardIterator")]) == 2


def test_a_saved_plan_carries_the_numbers(lab, tmp_path):
    """Records that arrive between the plan and its application change nothing in it, and are
    read; nothing is looked for again."""
    path = tmp_path / "a.plan"
    assert lab.dry("--policy", "latest", "--out", path).code == 1
    since = json.loads(path.read_text())["wishes"]["since"]
    assert since["asked"] == "now" and set(since["places"]) == {
        f"shardId-{n:012d}" for n in (1, 2, 3)
    }
    for shard in (1, 2, 3):
        lab.fake.put(lab.stream, shard, f"later-{shard}", "k")
    lab.fake.clock.advance(300)
    lab.wire.calls.clear()
    words = ("--yes", "--assume-stopped", "--created", lab.created, "--accept", "skip=30m")
    assert lab.cli("fix", "--plan", path, *words).code == 0
    assert "GetRecords" not in [o for _, o in lab.wire.calls]
    ran = run(lab.fake, lab.stream, list(lab.items().values()), "LATEST", "3.5.1")
    assert sorted(ran.order) == ["later-1", "later-2", "later-3"]


def test_a_saved_plan_is_stale_once_a_shard_has_closed(lab, tmp_path):
    path = tmp_path / "a.plan"
    assert lab.dry("--policy", "latest", "--out", path).code == 1
    client = lab.fake.client()
    client.merge_shards(
        StreamName=lab.stream, ShardToMerge="shardId-000000000002",
        AdjacentShardToMerge="shardId-000000000003",
    )
    lab.fake.settle()
    lab.wire.calls.clear()
    refused = lab.apply(path, "--created", lab.created)
    assert refused.code == 4 and refused.says("stale") and lab.wire.writes == []


def test_going_back_costs_re_reads_that_have_to_be_accepted(lab_of):
    """Consent as for every plan: one hour a shard by default."""
    lab = lab_of("healthy-split-cleaned", LATEST)
    lab.fake.clock.advance(3 * 3600)
    for shard in (1, 2, 3):
        lab.fake.put(lab.stream, shard, f"late-{shard}", "k")
    back = lab.dry("--policy", "at-timestamp=@reshard", "--format", "json")
    left = {r["flag"] for r in back.json["decision"]["residuals"]}
    assert left <= {""} or all(flag.startswith("--accept reread=") for flag in left)
    accepted = lab.dry(
        "--policy", "at-timestamp=@reshard", "--accept", "reread=all", "--format", "json"
    )
    assert accepted.json["decision"]["kind"] == "plan"
    assert not accepted.json["decision"]["residuals"]


@pytest.mark.parametrize("policy", ["latest", "at-timestamp=@reshard"])
def test_first_positions_by_time(lab_of, policy):
    lab = lab_of("a-both", items=[])
    done = lab.fix("--bootstrap", "--policy", policy)
    assert done.code == 0, done.err
    for shard in (1, 2, 3):
        lab.fake.put(lab.stream, shard, f"later-{shard}", "k")
    ran = run(lab.fake, lab.stream, list(lab.items().values()), "LATEST", "3.5.1")
    assert not ran.stuck
    for shard in (1, 2, 3):
        got = ran.delivered[f"shardId-{shard:012d}"]
        assert got[-1] == f"later-{shard}"
        assert policy != "latest" or len(got) == 1
    assert "shardId-000000000000" not in ran.delivered


def test_an_empty_table_is_not_read_for(lab_of):
    lab = lab_of("a-both", LATEST, items=[])
    refused = lab.dry("--policy", "latest")
    assert refused.code == 6 and refused.says("--bootstrap")
    assert "GetRecords" not in [o for _, o in lab.wire.calls]


def test_json_says_which_time(lab):
    shown = lab.dry("--policy", "latest", "--format", "json").json
    assert (shown["policy"], shown["policy_time"]) == ("latest", shown["taken"])
    assert lab.dry("--format", "json").json["policy_time"] is None


def test_a_drained_shard_that_was_never_ended_is_told_and_ended(lab_of):
    """KCL ends a shard only when the application checkpoints at its end (ShutdownTask)."""
    lab = lab_of("healthy-parent-drained", LATEST)
    assert lab.inspect("--format", "json").codes == set()
    seen = lab.inspect("--probe", "--format", "json")
    assert seen.codes == {"RSH216"} and seen.code == 0
    assert lab.fix("--probe").code == 0
    assert lab.items()["shardId-000000000000"]["checkpoint"] == {"S": "SHARD_END"}
    assert {"shardId-000000000002", "shardId-000000000003"} <= set(lab.items())
    assert lab.inspect("--probe", "--format", "json").codes == set()
    ran = run(lab.fake, lab.stream, list(lab.items().values()), "LATEST", "3.5.1")
    fresh = lab.fake.stream(lab.stream).shards
    for shard in (2, 3):
        got = ran.delivered.get(f"shardId-{shard:012d}", [])
        assert got == [record.payload.decode() for record in fresh[shard].records]


def test_a_shard_that_has_just_closed_is_given_time(lab_of):
    whole = case("healthy-parent-drained")
    closed = max(shard["close"] for shard in whole.stream["shards"] if "close" in shard)
    shards = [
        {k: v for k, v in shard.items() if "close" in shard or k != "records"}
        for shard in whole.stream["shards"]
    ]
    codes = [
        lab_of(replace(
            whole, stream={**whole.stream, "shards": shards, "now": closed + seconds}
        ), LATEST).inspect("--probe", "--format", "json").codes
        for seconds in (GRACE - 10, GRACE + 10)
    ]
    assert codes[1] - codes[0] == {"RSH216"}


def test_a_backlog_is_told_with_its_size_its_times_and_its_deadline(lab_of):
    lab = lab_of("parent-row-lost", LATEST)
    shown = lab.inspect("--probe", "--format", "json").json
    (finding,) = [f for f in shown["findings"] if f["code"] == "RSH202"]
    assert "records left in it" in finding["what"]
    held = lab.fake.stream(lab.stream).shards[0].records
    (effect,) = finding["effects"]
    assert effect["records"] == {
        "count": len(held), "at_least": False,
        "first_arrival": instant(held[0].arrival), "last_arrival": instant(held[-1].arrival),
    }
    keep = shown["stream"]["retention_seconds"]
    assert finding["deadline"]["probed"] is True
    assert finding["deadline"]["starts"] == instant(held[0].arrival + keep)
    assert "RSH216" not in lab_of(drained(case("parent-row-lost")), LATEST).inspect(
        "--probe", "--format", "json"
    ).codes


def test_a_probe_that_came_to_nothing_is_told(lab_of):
    lab = lab_of("parent-row-lost", LATEST)
    shown = lab.inspect("--probe", "--probe-budget", "calls=1", "--format", "json").json
    assert any("neither a record nor an end in 0" in note for note in shown["notes"])
    assert shown["findings"] == lab.inspect("--format", "json").json["findings"]


def test_what_was_interrupted_is_finished_with_the_same_numbers(lab):
    """Records that came meanwhile are not skipped by the second half."""
    before = lab.items()
    lab.wire.fail("TransactWriteItems", "AccessDeniedException")
    stopped = lab.fix("--policy", "latest", "--created", lab.created)
    assert stopped.code == 5, stopped.err
    assert lab.items() != before
    for shard in (1, 2, 3):
        lab.fake.put(lab.stream, shard, f"later-{shard}", "k")
    lab.fake.clock.advance(600)
    lab.wire.faults.clear()
    lab.wire.calls.clear()
    resumed = lab.resume("--accept", "skip=30m"
    )
    assert resumed.code == 0, resumed.err
    assert "GetRecords" not in [o for _, o in lab.wire.calls]
    ran = run(lab.fake, lab.stream, list(lab.items().values()), "LATEST", "3.5.1")
    assert sorted(ran.order) == ["later-1", "later-2", "later-3"]


def test_after_a_fix_that_skips_nobody_reads_that_nothing_is_skipped(lab):
    done = lab.fix("--policy", "latest", "--accept", "skip=all", "--format", "text")
    said = " ".join(done.out.split())
    assert done.code == 0 and "nothing is skipped" not in said
    assert re.search(r"OK now: .* end\. Up to \d+m of records a shard .* skipped on purp", said)
