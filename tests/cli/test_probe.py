"""`--probe`: a few reads that turn a guess into a fact, and nothing but reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reshardctl.kinesis.probe import PROBED_RECORDS
from tests.cli.lab import LATEST
from tests.support.case import CASES, Case, load


def case(name: str) -> Case:
    return load(CASES / "kcl" / f"{name}.toml")


def drained(whole: Case) -> Case:
    """The same with nothing ever put into a closed shard."""
    shards = [
        {k: v for k, v in shard.items() if not ("close" in shard and k == "records")}
        for shard in whole.stream["shards"]
    ]
    return replace(whole, stream={**whole.stream, "shards": shards})


@pytest.mark.parametrize("name", ["latest-closed-root", "parent-row-lost", "merge-coparent-lost"])
def test_a_drained_parent_is_no_trouble_any_more(lab_of, name):
    lab = lab_of(drained(case(name)), LATEST)
    assert "RSH202" in lab.inspect("--format", "json").codes
    assert "RSH202" not in lab.inspect("--format", "json", "--probe").codes


@pytest.mark.parametrize("name", ["latest-closed-root", "parent-row-lost", "merge-coparent-lost"])
def test_a_backlog_stays_one(lab_of, name):
    lab = lab_of(case(name), LATEST)
    assert "RSH202" in lab.inspect("--format", "json", "--probe").codes


def test_only_two_actions_and_few_of_them(lab_of):
    lab = lab_of("a-both", LATEST)
    lab.inspect()
    lab.wire.calls.clear()
    lab.inspect("--probe")
    reads = [o for service, o in lab.wire.calls if service == "kinesis" and o.startswith("Get")]
    assert set(reads) == {"GetShardIterator", "GetRecords"}
    assert len(reads) <= 2 * 2 * 4, "a bounded number for each of two shards"
    limits = [params["Limit"] for action, params in lab.fake.calls if action == "GetRecords"]
    assert limits and max(limits) <= PROBED_RECORDS


def test_a_plan_that_rests_on_a_probe_is_stale_once_records_arrived(lab_of, tmp_path):
    """The shard was drained when the plan was made; then it was not."""
    lab = lab_of("update-count-coparent-lost", LATEST)
    path = tmp_path / "a.plan"
    assert lab.dry("--probe", "--out", path).code == 1
    for shard in lab.fake.stream("orders").shards.values():
        if shard.closed is not None and not shard.records:
            shard.put(b"late", "k", shard.closed - 1, shard.closed - 1)
    lab.wire.calls.clear()
    refused = lab.apply(path, "--created", lab.created)
    assert refused.code == 4 and refused.says("stale")
    assert lab.wire.writes == []
