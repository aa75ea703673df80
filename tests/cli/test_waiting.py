"""`inspect --wait` and `--until`: what is waited for, and what is said when it takes too long."""

from __future__ import annotations

import pytest

from reshardctl.commands.survey import PAUSE, ROWS_PAUSE
from reshardctl.model.times import instant
from reshardctl.testing import FakeKinesis
from tests.cli.lab import TRIM_HORIZON, Lab
from tests.cli.process import on_terminal
from tests.support.reshards import reshard

pytestmark = [pytest.mark.slow, pytest.mark.lab("healthy-roots", TRIM_HORIZON)]

SECOND = "shardId-000000000001"


def begin(fake: FakeKinesis, target: int, seconds: float = 60.0) -> None:
    """A reshard that takes so long."""
    fake.settings.reshard_seconds = seconds
    fake.client().update_shard_count(
        StreamName="orders", TargetShardCount=target, ScalingType="UNIFORM_SCALING"
    )


def test_settled_is_what_is_waited_for_by_default(lab):
    begin(lab.fake, 4)
    found = lab.inspect("--wait", "10m", "--format", "json")
    assert found.json["stream"]["status"] == "ACTIVE" and found.json["stream"]["open_shards"] == 4
    begin(lab.fake, 8)
    found = lab.inspect("--wait", "10m", "--until", "settled", "--format", "json")
    assert found.json["stream"]["open_shards"] == 8


def test_nothing_is_waited_for_that_is_so_already(lab):
    for until in ("settled", "shards=2"):
        assert lab.inspect("--wait", "1m", "--until", until).code == 0
    assert lab.slept == []


def test_a_number_of_shards(lab):
    """The stream is ACTIVE before the reshard is even asked for."""
    lab.on_sleep.append(lambda _: begin(lab.fake, 4) if len(lab.slept) == 3 else None)
    found = lab.inspect("--wait", "10m", "--until", "shards=4", "--format", "json")
    assert found.json["stream"]["open_shards"] == 4
    assert lab.slept[:3] == [PAUSE] * 3


def test_a_number_that_does_not_come(lab):
    result = lab.inspect("--wait", "30s", "--until", "shards=8")
    assert result.code == 3
    assert result.says("after 30s", "orders has 2 open shards, not 8", "--wait")
    assert sum(lab.slept) == pytest.approx(30) and max(lab.slept) <= PAUSE


@pytest.mark.parametrize("until", [(), ("--until", "shards=4")])
def test_a_reshard_that_takes_too_long(lab, until):
    begin(lab.fake, 4, 600)
    result = lab.inspect("--wait", "1m", *until)
    assert result.code == 3 and result.out == ""
    assert result.says("after 1m", "UPDATING", "--wait") and 30 <= sum(lab.slept) <= 120


def cross(lab: Lab) -> None:
    """What a worker does once it has read shards 0 and 1 to their ends, as KCL 3.5 writes it."""
    rows = lab.items()
    for parent, children in ((0, ("2", "3")), (1, ("4", "5"))):
        key = f"shardId-{parent:012d}"
        lab.alter(key, checkpoint={"S": "SHARD_END"})
        for child in children:
            name = f"shardId-{int(child):012d}"
            item = {**rows[key], "leaseKey": {"S": name}, "checkpoint": {"S": "TRIM_HORIZON"},
                    "parentShardId": {"SS": [key]}}
            lab.plant(item)


def test_crossed_reads_the_rows_again_and_again(lab):
    reshard(lab.fake, "orders", "4")
    lab.on_sleep.append(lambda _: cross(lab) if len(lab.slept) == 4 else None)
    before = len(lab.wire.calls)
    found = lab.inspect("--wait", "15m", "--until", "crossed", "--format", "json")
    assert found.code == 0
    assert lab.slept == [ROWS_PAUSE] * 4
    scans = [name for _, name in lab.wire.calls[before:] if name == "Scan"]
    assert len(scans) == 6, "five looks and the judgement"
    assert lab.wire.writes == []


def test_crossed_in_vain_says_what_is_missing(lab):
    reshard(lab.fake, "orders", "4")
    lab.alter("shardId-000000000000", checkpoint={"S": "SHARD_END"})
    result = lab.inspect("--wait", "1m", "--until", "crossed")
    assert result.code == 3
    assert result.says("after 1m", "not read to the end: 1;", "not started: 2–5", "--watch 60s")
    assert max(lab.slept) <= ROWS_PAUSE


def test_an_ended_parent_alone_is_not_crossed(lab):
    """Its children have to be started as well."""
    reshard(lab.fake, "orders", "split=0")
    lab.alter("shardId-000000000000", checkpoint={"S": "SHARD_END"})
    result = lab.inspect("--wait", "1m", "--until", "crossed")
    assert result.code == 3 and result.says("not started: 2, 3")
    assert "not read" not in result.err


@pytest.mark.parametrize(("case", "options"), [
    ("healthy-split-cleaned", TRIM_HORIZON), ("healthy-second-generation-cleaned", TRIM_HORIZON),
    ("healthy-latest-resharded", "?initial=LATEST&release=3.5.1"),
])  # fmt: skip
def test_cleaned_up_parents_are_crossed(lab_of, case, options):
    """KCL deletes the rows of finished parents; their children's rows prove that they were."""
    lab = lab_of(case, options)
    assert lab.inspect("--wait", "1m", "--until", "crossed").code in (0, 1)
    assert lab.slept == []


def test_an_empty_table_has_not_crossed(lab_of):
    lab = lab_of("healthy-roots", TRIM_HORIZON, items=[])
    result = lab.inspect("--wait", "20s", "--until", "crossed")
    assert result.code == 3 and result.says("holds no position")


def test_crossing_waits_for_the_stream_first(lab):
    begin(lab.fake, 4)
    result = lab.inspect("--wait", "30s", "--until", "crossed")
    assert result.code == 3 and result.says("UPDATING")


def test_a_look_that_takes_long_is_followed_by_a_long_pause(lab):
    """At most half of the time is spent reading."""
    begin(lab.fake, 4, 3600)
    lab.wire.do("ListShards", lambda: lab.fake.clock.advance(40))
    lab.inspect("--wait", "10m")
    assert max(lab.slept) >= 40


def test_progress_at_a_terminal_only(lab):
    begin(lab.fake, 4, 3600)
    code, shown = on_terminal(
        lab, ["inspect", *lab.where, "--wait", "1h"], "\x03", until=lambda text: "waiting:" in text
    )
    assert code == 130 and "waiting: stream orders is still UPDATING" in shown
    assert "waiting:" not in lab.inspect("--wait", "10s").err


def reached(lab: Lab, *payloads: str) -> None:
    """Positions right after these records."""
    held = lab.fake.stream("orders").shards
    for payload in payloads:
        shard = int(payload[1:].partition("-")[0])
        number = next(r.number for r in held[shard].records if r.payload.decode() == payload)
        lab.alter(f"shardId-{shard:012d}", checkpoint={"S": str(number)})


def test_past_a_time_is_when_nothing_older_is_unread(lab):
    """Also in a shard in which nothing came since: its position stays before the time."""
    held = lab.fake.stream("orders").shards
    second = held[0].records[2].arrival
    held[1].records[:] = [r for r in held[1].records if r.arrival < second]
    last = held[1].records[-1].payload.decode()
    until = ("--until", f"past={instant(second)}")
    reached(lab, "s0-0", last)
    result = lab.inspect("--wait", "1m", *until)
    assert result.code == 3
    assert result.says(f"after 1m {lab.locator} has not passed {instant(second)} in shard 0")
    lab.on_sleep.append(lambda _: reached(lab, "s0-1"))
    lab.slept.clear()
    assert lab.inspect("--wait", "5m", *until).code == 0
    assert ROWS_PAUSE in lab.slept  # and pauses between reads


def test_past_the_close_of_a_shard_is_its_end(lab_of):
    lab = lab_of("a-both", TRIM_HORIZON)
    later = f"past={instant(lab.fake.stream('orders').created + 1400)}"
    waited = lab.inspect("--wait", "20s", "--until", later)
    assert waited.code == 3 and waited.says("has not passed", "in shards 1–3")


def test_past_a_time_that_is_still_to_come(lab):
    soon = instant(lab.fake.clock.now() + 30)
    waited = lab.inspect("--wait", "10s", "--until", f"past={soon}")
    assert waited.code == 3 and waited.says(f"after 10s {soon} is still to come")
    held = lab.fake.stream("orders").shards
    reached(lab, *(f"s{number}-{len(shard.records) - 1}" for number, shard in held.items()))
    assert lab.inspect("--wait", "2m", "--until", f"past={soon}").code == 0


@pytest.mark.parametrize("time", ["2020-01-01T00:00:00Z", "-300d", "@reshard"])
def test_past_a_time_that_cannot_be_names_the_option(lab, time):
    refused = lab.inspect("--wait", "1m", "--until", f"past={time}")
    assert refused.code == 2 and "--policy" not in refused.err
    named = "no shard" if time == "@reshard" else f"--until past={time}: stream orders was created"
    assert refused.says(named)
