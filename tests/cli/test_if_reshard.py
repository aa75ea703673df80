"""`inspect --if-reshard`: what it says, in every format, and what it refuses."""

from __future__ import annotations

import json

import pytest

from tests.cli.lab import Lab
from tests.support.reshards import reshard
from tests.unit.render.formats import FORMATS

LATEST = "?initial=LATEST&release=3.5.1"


@pytest.fixture
def latest(lab_of) -> Lab:
    """Two roots at LATEST that were never read: KCL bootstrapped at LATEST (runs on KCL 2.7.2 and
    3.5.1, November 2026)."""
    return lab_of("healthy-latest-roots", LATEST)


@pytest.mark.parametrize("word", ["split=0", "merge=0,1", "3", "4"])
@pytest.mark.parametrize("case", ["healthy-roots", "healthy-latest-roots"])
def test_it_says_what_inspect_says_after_the_reshard(lab_of, case, word):
    """Any streams and tables: tests/unit/report/test_preflight.py; here the whole command."""
    lab = lab_of(case, LATEST)
    told = lab.inspect("--if-reshard", word, "--format", "json")
    reshard(lab.fake, "orders", word)
    really = lab.inspect("--format", "json")
    counts = really.json["counts"] | {"fixable": 0}
    assert (told.code, told.json["counts"]) == (really.code, counts), "nothing is to be fixed yet"
    assert [shown(f) for f in told.json["findings"]] == [shown(f) for f in really.json["findings"]]
    assert told.json["decision"]["kind"] == really.json["decision"]["kind"]


def shown(finding: dict) -> tuple:
    return (finding["code"], finding["severity"], finding["shards"], finding["what"])


def test_what_breaks_at_the_first_start_after_it(latest):
    """A LATEST that was never read stands for the tip until the shard closes; then the next start
    skips what the shard still held (runs on KCL 2.7.2 and 3.5.1: cases/kcl/latest-closed-root).
    """
    assert latest.inspect("--format", "json").codes == set()
    told = latest.inspect("--if-reshard", "split=0", "--format", "json")
    assert told.codes == {"RSH202"}
    assert told.json["forecast"] == {
        "reshards": ["split=0"],
        "closes": ["shardId-000000000000"],
        "creates": [
            {"shard": "shardId-000000000002", "parents": ["shardId-000000000000"], "open": True,
             "hash_range": ["0", str(2**126 - 1)]},
            {"shard": "shardId-000000000003", "parents": ["shardId-000000000000"], "open": True,
             "hash_range": [str(2**126), str(2**127 - 1)]},
        ],
        "already": [],
    }  # fmt: skip
    assert told.json["watch"] is None
    assert (latest.wire.writes, latest.fake.mutating_calls, latest.slept) == ([], [], [])


def test_one_checkpoint_a_shard_and_it_crosses(lab_of):
    """What docs/preflight.md tells an application at LATEST to do before a reshard."""
    lab = lab_of("healthy-roots", LATEST)
    for word in ("split=0", "merge=0,1", "4"):
        told = lab.inspect("--if-reshard", word, "--format", "json")
        assert told.code == 0 and told.codes == set()


def test_what_is_so_already_is_told_apart(lab_of):
    lab = lab_of("a-both", "?initial=TRIM_HORIZON&release=3.5.1")
    open_one = lab.fake.stream("orders").open_pieces()[0].number
    assert lab.inspect("--format", "json").codes == {"RSH203"}
    told = lab.inspect("--if-reshard", f"split={open_one}", "--format", "json")
    assert [one["code"] for one in told.json["forecast"]["already"]] == ["RSH203"]
    text = lab.inspect("--if-reshard", f"split={open_one}", "--format", "text").out
    assert "already the case" in text and "what is already the case, and its fix" in text


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_that_it_is_a_forecast(latest, name):
    told = latest.inspect("--if-reshard", "split=0", "--format", name)
    plain = latest.inspect("--format", name)
    assert "split=0" in told.out and "split=0" not in plain.out
    if name == "jsonl":
        head = json.loads(told.out.splitlines()[0])
        assert head["forecast"]["reshards"] == ["split=0"]


def test_nothing_is_offered_to_be_fixed_now(latest):
    """What is found is not there yet: fix would find nothing."""
    text = latest.inspect("--if-reshard", "split=0", "--format", "text").out
    assert "reshardctl fix" not in text and "fixable" not in text
    assert "Forecast, if split=0 were done now: 0 closes; 2, 3 open. Nothing was resharded." in text
    assert "afterwards: set 0" in text
    runbook = latest.inspect("--if-reshard", "split=0", "--format", "markdown").out
    assert "reshardctl fix" not in runbook and "# Forecast" in runbook


def test_short_lived_shards_are_named(latest):
    text = latest.inspect("--if-reshard", "3", "--format", "text").out
    assert "0, 1 close; 2, 5, 6 open; 3, 4 open in between, for seconds." in " ".join(text.split())


def test_a_reshard_that_changes_nothing(latest):
    text = latest.inspect("--if-reshard", "2", "--format", "text")
    assert "nothing changes" in text.out and text.code == 0


def test_fail_on_judges_the_forecast(latest):
    assert latest.inspect("--if-reshard", "split=0", "--fail-on", "warning").code == 1
    assert latest.inspect("--fail-on", "warning").code == 0


def test_it_waits_first(latest):
    latest.fake.client().update_shard_count(
        StreamName="orders", TargetShardCount=4, ScalingType="UNIFORM_SCALING"
    )
    refused = latest.inspect("--if-reshard", "8")
    assert refused.code == 3 and refused.says("UPDATING", "ResourceInUseException", "--wait")
    assert latest.inspect("--if-reshard", "8", "--wait", "2m", "--format", "json").code in (0, 1)


BAD = [
    (["--if-reshard", "split=99"], "no shard 99"),
    (["--if-reshard", "merge=0,0"], "not an adjacent pair"),
    (["--if-reshard", "merge=1,0"], "merge=0,1"),
    (["--if-reshard", "0"], "between half and double"),
    (["--if-reshard", "5"], "between half and double"),
    (["--if-reshard", "10001"], "10000"),
    (["--if-reshard", "split"], "no reshard"),
    (["--if-reshard", ""], "no reshard"),
    (["--if-reshard", "split=0@1"], "hash key 1"),
    (["--if-reshard", "split=0", "--if-reshard", "split=0"], "shard 0 is closed"),
    (["--if-reshard", "3", "--policy", "latest"], "does not depend on it"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=lambda v: " ".join(v) if v else "-")
def test_bad_input(latest, words, said):
    result = latest.inspect(*words)
    assert result.code == 2 and result.says(said), result.err
    assert result.out == "" and latest.slept == []


@pytest.mark.parametrize("words", [
    ["--if-reshard", "8"], ["--if-reshard", "split=0"], ["--if-reshard", "merge=0,1"],
])  # fmt: skip
def test_an_on_demand_stream(latest, words):
    latest.fake.stream("orders").mode = "ON_DEMAND"
    result = latest.inspect(*words)
    assert result.code == 2 and result.says("ValidationException", "on-demand")


def test_fix_names_inspect(latest):
    result = latest.cli("fix", *latest.where, "--if-reshard", "8", "--dry-run")
    assert result.code == 2 and result.says("forecast", "reshardctl inspect", "--if-reshard 8")
    assert latest.wire.calls == []
    assert "--if-reshard" not in latest.cli("fix", "--help").out


def test_several_consumers_side_by_side(latest, lab_of):
    """One forecast for all; nothing is offered to be fixed."""
    first = latest.locator
    second = lab_of("healthy-roots", LATEST)
    told = latest.cli(
        "inspect", first, second.locator, "--stream", "orders", "--if-reshard", "split=0",
        "--format", "text",
    )
    text = " ".join(told.out.split())
    assert told.err == "" and text.startswith("Forecast, if split=0 were done now")
    assert "first start after that reshard" in text and "1 warning in 2 consumers" in text
    assert "reshardctl fix" not in text


def test_a_snapshot_can_be_asked(latest, tmp_path):
    file = tmp_path / "orders.snapshot"
    assert latest.cli("snapshot", latest.locator, "--stream", "orders", "-o", file).code == 0
    asked = latest.cli(
        "inspect", f"snapshot:{file}", "--if-reshard", "split=0", "--format", "json"
    )
    assert asked.codes == {"RSH202"} and asked.json["forecast"]["reshards"] == ["split=0"]
    watched = latest.cli("inspect", f"snapshot:{file}", "--watch", "60s")
    assert watched.code == 2 and watched.says("nothing moves in a snapshot")
