"""kinsumer on the command line: every case from end to end, its own refusals, its liveness.

What has to come out is in the case files, which cite the runs on the real libraries.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from reshardctl.model import Image, canonical, shard_id
from tests.cli.end_to_end import ends, fixed_cases, repaired
from tests.cli.kinsumer_lab import KinsumerLab, kinsumer_lab
from tests.cli.lab import Item, fake_of, option_words
from tests.proof.reference.kinsumer import run
from tests.support.case import CASES, Case, load
from tests.support.covering import covering
from tests.support.dialects import kinsumer as dialect
from tests.support.golden_kinsumer import STORES, images_of, topology
from tests.support.golden_kinsumer import fake_of as golden_fake

OWNERS = {"OwnerID", "OwnerName"}
"""What no undo gives back: whoever it was may be long gone."""
SAID = "?initial=TRIM_HORIZON&release=snowplow-1.7"
Made = Callable[..., KinsumerLab]


@pytest.fixture
def made(base_of, entered) -> Made:
    """A lab of a case, by the case or by its file's name."""

    def make(case: Case | str, options: str = SAID, leave_out: str = "") -> KinsumerLab:
        if isinstance(case, str):
            case = load(CASES / "kinsumer" / f"{case}.toml")
        lab = base_of(fake_of(case))
        lab.options = options
        return entered.enter_context(kinsumer_lab(lab, dialect.images(case), leave_out))

    return make


@pytest.fixture
def recorded(base_of, entered) -> Made:
    """A lab of a recorded store."""

    def make(store: Path, options: str) -> KinsumerLab:
        lab = base_of(golden_fake(store))
        lab.options, lab.stream = options, "st"
        return entered.enter_context(kinsumer_lab(lab, images_of(store)))

    return make


def kept(items: dict[str, Item]) -> dict[str, Item]:
    return {key: {n: v for n, v in i.items() if n not in OWNERS} for key, i in items.items()}


def images(items: dict[str, Item]) -> list[Image]:
    return [Image(key, canonical(item)) for key, item in sorted(items.items())]


@pytest.mark.long
@pytest.mark.parametrize(("case", "initial", "release", "expect"), list(
    fixed_cases("kinsumer", pairs=ends, holds=lambda case: case.state.get("rows"))
))
def test_a_case_from_end_to_end(made, case, initial, release, expect):
    lab = made(case, option_words(initial, release, case.stream["created"]))
    repaired(lab, case, expect, lambda shard: (
        "metadata/ShardCache" if shard == dialect.CACHE else f"checkpoints/shardId-{shard:012d}"
    ), kept=kept)


@pytest.mark.parametrize("table", ["_checkpoints", "_clients", "_metadata"])
def test_a_missing_table_is_named(made, table):
    lab = made("a", leave_out=table)
    done = lab.inspect()
    assert done.code == 2
    assert done.says(f"{lab.app}{table}")


def test_another_program_s_rows_are_refused(made):
    lab = made("b1")
    assert not any(key.startswith("checkpoints/") for key in lab.items())
    lab.plant_images([Image("checkpoints/orders-0", {"Shard": {"S": "orders-0"}})])
    done = lab.inspect()
    assert done.code == 2
    assert done.says("orders-0", "another program")


def test_a_row_whose_key_is_no_shard_s_is_named_and_the_others_are_judged(made):
    """loadCheckpoints keeps it under its own key, which no listed shard has (checkpoints.go)."""
    lab = made("a")
    codes = {f["code"] for f in lab.inspect("--format", "json").json["findings"]}
    lab.plant_images([Image("checkpoints/bak:shardId-000000000000", {
        "Shard": {"S": "bak:shardId-000000000000"}, "SequenceNumber": {"S": "LATEST"},
    })])  # fmt: skip
    before = lab.items()
    done = lab.inspect("--format", "json")
    assert {f["code"] for f in done.json["findings"]} - codes == {"RSH302"}, done.err
    assert "bak:shardId-000000000000" in done.out
    assert lab.fix().code in (0, 1)
    assert lab.items()["checkpoints/bak:shardId-000000000000"] == before[
        "checkpoints/bak:shardId-000000000000"]


def test_another_stream_s_numbers_are_refused(made):
    """The tables do not name their stream: two of them under one application's name collide."""
    lab = made("a")
    late = str((2 << 184) + (1795222000 << 148) + (9 << 144) + (1 << 80)
               + (1795222000 << 36) + (9 << 4) + 2)  # fmt: skip
    lab.change("checkpoints/shardId-000000000000", SequenceNumber={"S": late})
    done = lab.inspect()
    assert done.code == 2
    assert done.says("another stream")


def test_rows_without_a_number_that_name_no_shard_of_the_stream_are_another_s(made):
    """LATEST is stored until a first record was read; the listing knows two of six shards."""
    lab = made("a")
    lab.restore({k: row for k, row in lab.items().items() if not k.startswith("checkpoints/")})
    lab.plant_images([
        Image(f"checkpoints/{shard_id(i)}", canonical({
            "Shard": {"S": shard_id(i)}, "SequenceNumber": {"S": "LATEST"},
            "Finished": {"NULL": True}, "LastUpdate": {"N": "1"},
        })) for i in (0, 1, 20, 21, 22, 23)
    ])
    before = lab.items()
    for words in ([], ["--created", lab.created]):
        done = lab.fix("--accept", "reread=all", *words)
        assert done.code == 2, done.out
        assert done.says("another stream", "4 of 6 rows contradict the listing of stream orders")
    assert lab.items() == before


def test_the_start_mode_is_not_asked_where_one_plan_is_right_for_every_one(made):
    """Children without a row: TRIM_HORIZON reads them, a start by time may skip their head; with
    a row at their beginning both read them."""
    lab = made("g", "?release=snowplow-1.7")
    done = lab.dry("--format", "json")
    assert done.code == 1 and done.json["decision"]["kind"] == "plan"
    assert made("g", "?release=twitch").dry().code == 0
    assert made("b5", "?release=snowplow-1.7").dry("--format", "json").code == 0


def test_a_renewing_client_is_running_and_a_row_s_age_is_no_sign(made):
    """The original leaves a quiet shard's LastUpdate alone while its owner lives (run, case h)."""
    lab = made("f")
    lab.options = SAID
    beats = iter(range(1, 10_000))

    def renew(_seconds: float) -> None:
        lab.plant_images([Image("clients/c1", canonical({
            "ID": {"S": "c1"}, "LastUpdate": {"N": str(next(beats))},
        }))])  # fmt: skip

    renew(0)
    lab.on_sleep.append(renew)
    before = {k: v for k, v in lab.items().items() if k != "clients/c1"}
    done = lab.cli("fix", *lab.where, "--yes", "--accept", "reread=2h", "--watch", "90s")
    assert done.code == 4
    assert done.says("is running", "clients/c1")
    assert {k: v for k, v in lab.items().items() if k != "clients/c1"} == before


def test_a_watch_shorter_than_a_renewal_proves_nothing(made):
    """shardCheckFrequency is a minute by default (config.go of both): 30 s of silence are none.
    The command that a dry run prints watches long enough."""
    lab = made("killed")
    lab.change("checkpoints/shardId-000000000001", SequenceNumber={"S": "LATEST"})
    before = lab.items()
    done = lab.cli("fix", *lab.where, "--yes", "--watch", "45s")
    assert done.code == 2
    assert done.says("clients/c1", "--watch 60s")
    assert (lab.items(), lab.slept) == (before, [])
    printed = lab.cli("fix", *lab.where, "--dry-run", "--format", "text")
    assert "--watch" not in printed.out
    done = lab.cli("fix", *lab.where, "--yes")
    assert done.code == 0, done.err
    assert sum(lab.slept) >= 60


def test_no_client_and_no_leader_are_watched_all_the_same(made):
    """A client that has started a moment ago has not written its row yet."""
    lab = made("f")
    argv = ("fix", *lab.where, "--yes", "--accept", "reread=2h", "--watch")
    short = lab.cli(*argv, "1s")
    assert short.code == 2 and "may own no row for that long; watch for at least 60s" in short.err
    done = lab.cli(*argv, "60s")
    assert done.code == 0, done.err
    assert sum(lab.slept) == 60 and "no row has an owner, and in 60 s none got one" in done.err


def test_a_bootstrap_at_latest(made):
    """Open shards at LATEST, closed ones finished, the cache is the open ones (golden store g6)."""
    lab = made("b1")
    done = lab.fix("--bootstrap", "--policy", "latest-at-start", "--created", lab.created)
    assert done.code == 0, done.err
    rows = lab.items()
    assert rows["checkpoints/shardId-000000000000"]["SequenceNumber"] == {"NULL": True}
    assert "N" in rows["checkpoints/shardId-000000000000"]["Finished"]
    for shard in (1, 2):
        row = rows[f"checkpoints/shardId-{shard:012d}"]
        assert (row["SequenceNumber"], row["Finished"]) == ({"S": "LATEST"}, {"NULL": True})
    assert rows["metadata/ShardCache"]["ShardIDs"] == {
        "L": [{"S": "shardId-000000000001"}, {"S": "shardId-000000000002"}]
    }
    assert lab.inspect("--format", "json").codes == set()
    assert lab.undo().code == 0
    assert lab.items().keys() == {"metadata/Leader"}


def test_a_bootstrap_that_reads_finishes_with_the_last_number(made):
    """Without it the shard is read whole once the cache is gone (run, case c'); with it, once
    behind its end (case c)."""
    lab = made("b1")
    case = load(CASES / "kinsumer" / "b1.toml")
    said = ["--bootstrap", "--policy", "latest-at-start", "--created", lab.created]
    assert lab.fix(*said, "--probe").code == 0
    row = lab.items()["checkpoints/shardId-000000000000"]
    assert row["SequenceNumber"] == {"S": case.number_of("s0-9")}
    assert "N" in row["Finished"]
    assert lab.inspect("--format", "json").codes == set()
    stored = [i for i in images(lab.items()) if i.key != "metadata/ShardCache"]
    ran = run(fake_of(case), "orders", dialect.tables(stored), "TRIM_HORIZON", "snowplow-1.7")
    assert ran.delivered == {}
    assert lab.undo().code == 0
    assert lab.items().keys() == {"metadata/Leader"}


@pytest.mark.parametrize("store", STORES, ids=[f"{s.parent.name}-{s.name}" for s in STORES])
@pytest.mark.parametrize("release", [
    pytest.param("twitch", marks=pytest.mark.long), "snowplow-1.6",
    pytest.param("snowplow-1.7", marks=pytest.mark.long),
])  # fmt: skip
def test_a_recorded_store_needs_nothing(recorded, wire, store, release):
    lab = recorded(store, f"?release={release}&initial=TRIM_HORIZON")
    assert lab.inspect().code == 0
    assert lab.dry("--format", "json").json["decision"]["kind"] == "nothing"
    assert wire.writes == []


@pytest.mark.parametrize("store", covering(
    [s for s in STORES if "g1" not in s.name and "g6" not in s.name],
    lambda s: [s.name], lambda s: f"{s.parent.name}-{s.name}",
))
def test_a_recorded_store_is_pinned_and_put_back(recorded, store):
    """A start by a time behind the reshard: children get their beginning, byte for byte undone."""
    lab = recorded(store, "?release=snowplow-1.7")
    before = lab.items()
    assert lab.dry("--format", "json").json["decision"]["kind"] == "plan"
    created = topology(store)["created"]
    lab.options = option_words("AT_TIMESTAMP:+8000", "snowplow-1.7", created)
    assert lab.inspect().code == 1
    assert lab.fix().code == 0
    after = lab.items()
    new = after.keys() - before.keys()
    assert new
    assert all(key.startswith("checkpoints/") for key in new)
    assert lab.dry("--format", "json").json["decision"]["kind"] == "nothing"
    assert lab.inspect().code == 0
    assert lab.undo().code == 0
    assert lab.items() == before


def test_a_saved_bootstrap_finds_the_last_numbers_again(made, tmp_path):
    lab = made("b1")
    case = load(CASES / "kinsumer" / "b1.toml")
    plan = tmp_path / "first.plan"
    said = ["--bootstrap", "--policy", "latest-at-start", "--probe", "--created", lab.created]
    assert lab.dry(*said, "--out", plan).code == 1
    done = lab.cli("fix", "--plan", plan, "--bootstrap", "--created", lab.created, "--yes",
                   "--assume-stopped", "--accept", "skip=2h")  # fmt: skip
    assert done.code == 0, done.err
    row = lab.items()["checkpoints/shardId-000000000000"]
    assert row["SequenceNumber"] == {"S": case.number_of("s0-9")}


def test_the_backup_of_an_incident_is_of_the_tables_that_there_are(made):
    """CreateRequiredTables makes three; none has the application's own name."""
    lab = made("c1-cached")
    shown = lab.inspect("--format", "markdown").out
    backups = re.findall(r"create-backup --table-name (\S+)", shown)
    assert backups == [f"{lab.app}{end}" for end in ("_checkpoints", "_clients", "_metadata")]


def test_every_count_of_a_bootstrap_has_the_shard_cache(made):
    """Three checkpoints and the ShardCache of the open shards: four rows (golden store g6)."""
    lab = made("b1")
    done = lab.fix("--bootstrap", "--policy", "latest-at-start", "--created", lab.created,
                   "--format", "text")  # fmt: skip
    assert len(lab.items().keys() - {"metadata/Leader"}) == 4
    said = [line.split(".")[0].strip() for line in done.out.splitlines()]
    assert "Plan: 4 to create, 0 to move, 0 to delete" in said
    assert "undo     reshardctl undo JOURNAL   # delete 4 created rows" in said
    written = done.out[done.out.index("  journal"):]
    assert "ShardCache: – → 1, 2" in written and "Done. 4 rows written and read back." in written
