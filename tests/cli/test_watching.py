"""`inspect --watch`: what runs, what gets on, and what does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reshardctl.testing import FakeKinesis
from tests.cli.lab import TRIM_HORIZON, Lab

pytestmark = [pytest.mark.slow, pytest.mark.lab("healthy-roots", TRIM_HORIZON)]

FIRST, SECOND = "shardId-000000000000", "shardId-000000000001"


def renew(lab: Lab, *keys: str) -> Callable[[float], None]:
    """A worker that holds these leases: it renews each in every third of its failover time of 9 s.
    """

    def work(_seconds: float) -> None:
        if len(lab.slept) % 3 != 1:
            return
        rows = lab.items()
        lab.plant(*({
            **rows[key], "leaseOwner": {"S": "w1"},
            "leaseCounter": {"N": str(int(rows[key]["leaseCounter"]["N"]) + 1)},
        } for key in keys))  # fmt: skip

    return work


def move(lab: Lab, *keys: str) -> Callable[[float], None]:
    """A worker that reads on and checkpoints at its shard's last record."""

    def work(_seconds: float) -> None:
        if len(lab.slept) % 3 != 1 and lab.slept:
            return
        rows, shards = lab.items(), lab.fake.stream("orders").shards
        lab.plant(*({
            **rows[key], "checkpoint": {"S": str(shards[int(key[8:])].records[-1].number)},
        } for key in keys))  # fmt: skip

    return work


def watched(lab: Lab, *more: str) -> dict:
    told = lab.inspect("--watch", "60s", "--format", "json", *more)
    assert told.code in (0, 1), told.err
    assert lab.slept[:60] == [1.0] * 60 and sum(lab.slept[60:]) < 5, "probes have a pace too"
    return told.json


def found(told: dict) -> list[tuple[str, list[int]]]:
    return [
        (f["severity"], [int(shard[8:]) for shard in f["shards"]])
        for f in told["findings"] if f["code"] == "RSH403"
    ]


def test_a_worker_that_gets_on(lab):
    lab.on_sleep += [renew(lab, FIRST, SECOND), move(lab, FIRST, SECOND)]
    told = watched(lab)
    assert found(told) == []
    assert told["watch"]["runs"] is True and told["watch"]["seconds"] == 60
    assert {one["moved"] for one in told["watch"]["shards"]} == {True}


def test_without_probe_standing_still_may_be_idleness(lab):
    lab.on_sleep += [renew(lab, FIRST, SECOND), move(lab, FIRST)]
    told = watched(lab)
    assert found(told) == [("info", [1])]
    (finding,) = [f for f in told["findings"] if f["code"] == "RSH403"]
    assert "no progress seen, may be idle" in finding["what"]
    assert "--probe" in finding["helps"]


def test_unread_records_are_evidence(lab):
    """The case has two unread records in each shard."""
    lab.on_sleep += [renew(lab, FIRST, SECOND), move(lab, FIRST)]
    told = watched(lab, "--probe")
    assert found(told) == [("warning", [1])]
    (finding,) = [f for f in told["findings"] if f["code"] == "RSH403"]
    assert "held by w1" in finding["what"] and "expires at" in finding["costs"]
    assert told["exit"]["code"] == 0


def test_records_that_came_meanwhile_are_none(lab):
    """A worker that has read everything, and one record that arrives while it is watched."""
    move(lab, FIRST, SECOND)(0)
    lab.on_sleep += [renew(lab, FIRST, SECOND), put_once(lab.fake, 1)]
    assert found(watched(lab, "--probe")) == [("info", [1])]


def put_once(fake: FakeKinesis, shard: int) -> Callable[[float], None]:
    def work(_seconds: float) -> None:
        if len(fake.stream("orders").shards[shard].records) < 5:
            fake.put("orders", shard, "late")

    return work


def test_a_drained_open_shard_is_idle(lab):
    move(lab, FIRST, SECOND)(0)
    lab.on_sleep.append(renew(lab, FIRST, SECOND))
    assert found(watched(lab, "--probe")) == []


def test_nobody_takes_it(lab):
    """maxLeasesForWorker, awslabs/amazon-kinesis-client#202."""
    lab.alter(SECOND, leaseOwner=None)
    lab.on_sleep += [renew(lab, FIRST), move(lab, FIRST)]
    assert found(watched(lab)) == [("warning", [1])]


def test_nobody_takes_it_and_there_is_something_to_read(lab):
    lab.alter(SECOND, leaseOwner=None)
    lab.on_sleep += [renew(lab, FIRST), move(lab, FIRST)]
    told = watched(lab, "--probe")
    assert found(told) == [("error", [1])]
    assert told["exit"]["code"] == 1
    (finding,) = [f for f in told["findings"] if f["code"] == "RSH403"]
    assert "60 s without a renewal rules out failover times up to 180 s" in finding["helps"]


def test_a_worker_that_holds_no_lease_shows_itself_elsewhere(lab):
    """KCL 3.x workers write their own statistics (WorkerMetricStats), whatever they hold."""
    stats = {"leaseKey": {"S": "w9"}, "entityType": {"S": "WORKER_METRIC_STATS"}}
    lab.plant({**stats, "lut": {"N": "1"}})
    for key in (FIRST, SECOND):
        lab.alter(key, leaseOwner=None)
    lab.on_sleep.append(lambda _: lab.plant({**stats, "lut": {"N": str(len(lab.slept) + 1)}}))
    told = watched(lab)
    assert told["watch"]["runs"] is True and found(told) == [("warning", [0, 1])]
    (finding,) = [f for f in told["findings"] if f["code"] == "RSH403"]
    assert "while the consumer runs" in finding["what"]


def test_an_owners_name_alone_is_no_sign(lab):
    """It stays in the row after a stop."""
    lab.on_sleep += [renew(lab, FIRST), move(lab, FIRST)]
    assert found(watched(lab)) == [("warning", [1])]


def test_nobody_runs(lab):
    told = watched(lab, "--probe")
    assert found(told) == [] and told["watch"]["runs"] is False
    text = lab.inspect("--watch", "60s", "--format", "text").out
    assert "rules out failover times up to 180 s" in " ".join(text.split())


def test_a_lease_that_changes_hands_was_renewed(lab):
    lab.on_sleep += [renew(lab, FIRST), move(lab, FIRST),
                     lambda _: lab.alter(SECOND, leaseOwner={"S": "w2"})]
    assert found(watched(lab)) == [("info", [1])]


def test_a_closed_shard_that_never_ends(lab_of):
    """Its owner has read it and never checkpoints at its end; its children wait."""
    lab = lab_of("healthy-parent-drained", TRIM_HORIZON)
    closed = [s.id for s in lab.fake.stream("orders").shards.values() if s.closed is not None]
    held = [key for key in closed if lab.items().get(key, {}).get("checkpoint", {}).get("S") not in
            (None, "SHARD_END")]
    assert held
    lab.on_sleep.append(renew(lab, *lab.items()))
    told = watched(lab)
    said = [f for f in told["findings"] if f["code"] == "RSH403" and f["shards"] == held]
    assert [f["severity"] for f in said] == ["warning"]
    assert "is closed and does not end" in said[0]["what"]
    lab.slept.clear()
    probed = watched(lab, "--probe")
    said = [f for f in probed["findings"] if f["code"] == "RSH403" and f["shards"] == held]
    assert "read to its end, and never ended" in said[0]["what"]


def test_what_waits_for_a_parent_is_not_blamed(lab_of):
    """Children that a worker holds and renews while their parent is read (BlockOnParentShardTask).
    """
    lab = lab_of("healthy-merge-waiting", TRIM_HORIZON)
    lab.on_sleep.append(renew(lab, *lab.items()))
    told = watched(lab)
    blamed = {shard for _, shards in found(told) for shard in shards}
    shards = lab.fake.stream("orders").shards
    waiting = {
        number for number, shard in shards.items()
        if shard.parents and any(shards[p].closed and p in blamed for p in shard.parents)
    }
    assert blamed and not blamed & waiting


def test_nothing_is_written_and_the_rows_are_read_twice(lab):
    watched(lab)
    assert lab.wire.writes == []
    assert [name for _, name in lab.wire.calls].count("Scan") == 2


def test_the_report_says_what_was_judged(lab):
    lab.on_sleep.append(renew(lab, FIRST, SECOND))
    one = " ".join(lab.inspect("--watch", "60s", "--format", "text").out.split())
    assert "The watch: in 1m 2 of 2 rows were renewed, 0 advanced." in one
    other = " ".join(lab.inspect("--format", "text").out.split())
    assert "Next start with" not in other and "The watch" not in other
    told = " ".join(lab.inspect("--format", "text", "-v").out.split())
    assert "Next start with" in told and "whether it runs was not checked." in told
    assert lab.inspect("--format", "json").json["watch"] is None


def test_what_cannot_be_judged_is_said_before_the_wait(lab_of):
    lab = lab_of("healthy-roots", TRIM_HORIZON, items=[])
    assert lab.inspect("--watch", "60s").code == 6
    assert lab.slept == []
