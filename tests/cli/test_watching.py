"""`inspect --watch`: what runs, what gets on, and what does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

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


def put_once(fake: FakeKinesis, shard: int) -> Callable[[float], None]:
    def work(_seconds: float) -> None:
        if len(fake.stream("orders").shards[shard].records) < 5:
            fake.put("orders", shard, "late")

    return work


def all_but_one_read(lab: Lab) -> None:
    """A worker has read everything, and one record arrives while it is watched."""
    move(lab, *BOTH)(0)
    lab.on_sleep.append(put_once(lab.fake, 1))


BOTH, PROBED = (FIRST, SECOND), ("--probe",)
Work = Callable[[Lab], Any]
SCENES: dict[str, tuple[Work, Sequence[str], Sequence[str], Sequence[str], Any, Sequence[str]]] = {
    # what happens before, who is renewed, who moves, options → findings, words of the first
    "it gets on": (lambda _: None, BOTH, BOTH, (), [], ()),
    "it may be idle": (lambda _: None, BOTH, [FIRST], (), [("info", [1])],
                       ("no progress seen, may be idle", "--probe")),
    "unread records are evidence": (  # the case has two in each shard
        lambda _: None, BOTH, [FIRST], PROBED, [("warning", [1])], ("held by w1", "expires at")),
    "records that came meanwhile are none": (
        all_but_one_read, BOTH, [], PROBED, [("info", [1])], ()),
    "a drained shard is idle": (lambda lab: move(lab, *BOTH)(0), BOTH, [], PROBED, [], ()),
    "nobody takes it": (  # maxLeasesForWorker, awslabs/amazon-kinesis-client#202
        lambda lab: lab.alter(SECOND, leaseOwner=None), [FIRST], [FIRST], (),
        [("warning", [1])], ()),
    "nobody takes it, and there is something to read": (
        lambda lab: lab.alter(SECOND, leaseOwner=None), [FIRST], [FIRST], PROBED,
        [("error", [1])], ("60 s without a renewal rules out failover times up to 180 s",)),
    "an owner's name alone is no sign": (  # it stays in the row after a stop
        lambda _: None, [FIRST], [FIRST], (), [("warning", [1])], ()),
    "a lease that changes hands was renewed": (
        lambda lab: lab.on_sleep.append(lambda _: lab.alter(SECOND, leaseOwner={"S": "w2"})),
        [FIRST], [FIRST], (), [("info", [1])], ()),
}


@pytest.mark.parametrize("scene", SCENES)
def test_what_is_said_of_a_worker(lab, scene):
    before, renewed, moved, more, expected, words = SCENES[scene]
    before(lab)
    lab.on_sleep += [renew(lab, *renewed), move(lab, *moved)]
    told = watched(lab, *more)
    assert found(told) == expected
    said = [f for f in told["findings"] if f["code"] == "RSH403"]
    assert all(word in json.dumps(said) for word in words)
    assert told["exit"]["code"] == (("error", [1]) in expected)
    assert told["watch"]["runs"] is True and told["watch"]["seconds"] == 60
    if scene == "it gets on":
        assert {one["moved"] for one in told["watch"]["shards"]} == {True}


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


def test_nobody_runs(lab):
    told = watched(lab, "--probe")
    assert found(told) == [] and told["watch"]["runs"] is False
    text = lab.inspect("--watch", "60s", "--format", "text").out
    assert "rules out failover times up to 180 s" in " ".join(text.split())


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
