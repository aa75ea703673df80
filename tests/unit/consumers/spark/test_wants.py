"""Which files of a checkpoint are looked at."""

from __future__ import annotations

import pytest

from reshardctl.consumers.registry import CONSUMERS
from reshardctl.consumers.spark import sources
from reshardctl.consumers.spark.lines import awslabs
from reshardctl.consumers.spark.positions import TRIM_HORIZON, Position
from reshardctl.consumers.spark.releases import AWSLABS_1_4_2, App, Start
from reshardctl.consumers.spark.sources import select
from reshardctl.consumers.spark.starts import notes
from reshardctl.consumers.spark.tree import checkpoint_of
from reshardctl.model import Image, shard_id
from reshardctl.model.files import Wants
from reshardctl.stores.files.local import Local
from reshardctl.stores.files.tree import Tree
from tests.support.checkpoint_files import CONNECTORS, GOLDEN, checkpoints, file, images, name
from tests.support.connector_entries import entry_text
from tests.support.lineages import split_in_turn

BATCHES = "sources/0/shard-source"


def seen(all_: dict[str, Image], source: str = "") -> tuple[Wants, int]:
    """What a medium would end up with, and in how many rounds: it lists and reads what is wanted
    until nothing new is."""
    choose = select(source)
    known: dict[str, Image] = {}
    wants, rounds = Wants(), 0
    while (more := choose(known, wants.folders)) != wants:
        assert wants.folders <= more.folders, "never less than before"
        assert wants.files <= more.files, "never less than before"
        wants, rounds = more, rounds + 1
        for key, image in all_.items():
            folder = key.rstrip("/").rpartition("/")[0]
            if key in wants.files:
                known[key] = image
            elif folder in wants.folders:
                size = {"size": {"N": "1"}}
                known.setdefault(key, Image(key, {} if key.endswith("/") else size))
    return wants, rounds


def test_the_consumer_has_the_selector_of_its_source():
    files = images(GOLDEN / "awslabs-1.4.2/s2")
    chosen = CONSUMERS["spark"].for_options({"source": "0"}).files()
    assert chosen is not None
    assert chosen(files, frozenset()) == select("0")(files, frozenset())


def test_a_plan_is_stale_once_a_batch_beside_the_written_one_was_planned_or_committed():
    """The query numbers its batches in turn (Spark's MicroBatchExecution)."""
    family = CONSUMERS["spark"].family(split_in_turn(1, ()), {"offsets/7"})
    assert family == {f"{folder}/{n}" for folder in ("offsets", "commits") for n in (6, 7, 8)}


@pytest.mark.parametrize(("whole", "found"), [
    ((), [0, 3, 10]), ((0,), [3, 10]), ((2, 3), [10]),
])  # fmt: skip
def test_the_folders_of_a_log_after_the_last_batch(whole, found):
    """Batches are counted from 0 (Spark's MicroBatchExecution)."""
    inside = {f"{n}/": Image(f"{BATCHES}/{n}/", {}) for n in (10, 3, 0)}
    assert sources.ahead({BATCHES: inside}, BATCHES, whole) == found


def looked_up(wants: Wants, path: str) -> set[str]:
    """The batches whose logs are listed, and the entries that are read: "0", "0 1" for shard 1."""
    log = "sources/0/shard-commit/" if path.startswith("qubole") else f"{BATCHES}/"
    entries = (key.removeprefix(log).split("/shardId-") for key in wants.files if log in key)
    listed = {key.removeprefix(log) for key in wants.folders if key.startswith(log)}
    return listed | {f"{batch} {int(shard)}" for batch, shard in entries}


@pytest.mark.parametrize(("path", "expected"), [
    # Batches 0 and 1 are committed; 0 is where shard 0 ended.
    ("awslabs-1.4.2/s2", "0, 0 0, 1, 1 1, 1 2, 2, 3"),
    # Shard 0 stands in offsets/0 and in no later one (run: its tail was lost); 3 is uncommitted.
    ("awslabs-head-0f4c005/s1x", "0, 0 0, 2, 2 1, 2 2, 3, 3 1, 3 2, 4, 5"),
    # The offset line itself said SHARD_END, one batch later: it is not looked up again.
    ("qubole-kinesis-sql/s1", "3, 3 1, 3 2, 4, 5"),
    # An uncommitted batch is looked at, and the one before it.
    ("awslabs-head-0f4c005/u1", "0, 0 0, 1, 1 1, 1 2, 2, 3"),
])  # fmt: skip
def test_the_log_of_the_newest_batch_is_needed_what_lies_ahead_and_where_a_shard_was_last(
    path: str, expected: str
):
    wants, _ = seen(images(GOLDEN / path))
    assert looked_up(wants, path) == set(expected.split(", "))


def test_a_healthy_checkpoint_is_read_in_few_rounds():
    wants, rounds = seen(images(GOLDEN / "awslabs-1.4.2/s2"))
    assert rounds <= 5
    assert {key for key in wants.files if not key.startswith(BATCHES)} == {
        "metadata", "offsets/0", "offsets/1", "commits/0", "commits/1",
    }
    assert {"", "offsets", "commits", "sources", "sources/0", BATCHES} <= wants.folders


def test_the_log_is_filed_by_the_connector_s_own_count():
    """After a batch that ran twice Spark's ids are one ahead (run of s4 on all three builds)."""
    tree = images(GOLDEN / "awslabs-head-0f4c005/s1")
    moved = dict(tree)
    for folder in ("offsets", "commits"):
        image = moved.pop(f"{folder}/0")
        moved[f"{folder}/7"] = Image(f"{folder}/7", image.attributes)
    wants, _ = seen(moved)
    assert {0, 1, 2} == {int(one.partition(" ")[0]) for one in looked_up(wants, "")}


def test_a_named_source_keeps_its_log_under_its_name():
    """Run on Spark 4.3.0: sources/kin/."""
    tree = images(GOLDEN / "awslabs-head-0f4c005-spark-4.3/s1")
    text = tree["offsets/0"].attributes["text"]["S"].replace("\n0:{", "\nkin:{")
    wants, _ = seen({**tree, "offsets/0": file("offsets/0", text)})
    assert "sources/kin/shard-source/0" in wants.folders
    assert not any(one.startswith("sources/0") for one in wants.folders)


def test_only_the_named_source_s_log_is_looked_at():
    tree = images(GOLDEN / "awslabs-head-0f4c005/s1")
    text = tree["offsets/0"].attributes["text"]["S"]
    both = file("offsets/0", text + "\n" + text.split("\n")[2])
    assert {"sources/0", "sources/1"} <= seen({**tree, "offsets/0": both})[0].folders
    folders = seen({**tree, "offsets/0": both}, source="1")[0].folders
    assert "sources/1" in folders
    assert "sources/0" not in folders


def test_of_a_large_history_little_is_read():
    """All offset logs, two commits, one batch's entries; not the millions of log files."""
    tree = images(GOLDEN / "awslabs-head-0f4c005/s1")
    head, metadata, line = tree["offsets/0"].attributes["text"]["S"].split("\n")
    many = {"metadata": tree["metadata"]}
    entry = tree[f"{BATCHES}/0/shardId-000000000000"].attributes["text"]["S"]
    for batch in range(100):
        text = line.replace('"batchId":"0"', f'"batchId":"{batch}"')
        for one in (
            file(f"offsets/{batch}", "\n".join([head, metadata, text])),
            file(f"commits/{batch}", 'v1\n{"nextBatchWatermarkMs":0}'),
            file(f"{BATCHES}/{batch}/shardId-000000000000", entry),
        ):
            many[one.key] = one
    wants, _ = seen(many)
    assert len(wants.files) == 1 + 100 + 2 + 1
    assert looked_up(wants, "") == {"99", "99 0", "100", "101"}


@pytest.mark.parametrize("source", ["pyds/lineage", "spark-4.3.0/v2n"])
def test_sources_that_keep_no_log_need_none(source):
    wants, _ = seen(images(GOLDEN / source))
    assert not any(one.startswith("sources/") for one in wants.files)
    assert all(one.count("/") < 2 for one in wants.folders)


@pytest.mark.parametrize("damage", ["", "v1", "v1\n{}\n{", "v0\n{}\n{}"])
def test_damaged_logs_do_not_stop_the_looking(damage):
    tree = images(GOLDEN / "awslabs-head-0f4c005/u1")
    wants, _ = seen({**tree, "offsets/1": file("offsets/1", damage)})
    assert f"{BATCHES}/0" in wants.folders
    broken = {**tree, "offsets/0": file("offsets/0", ""), "offsets/1": file("offsets/1", damage)}
    assert seen(broken)[0].files >= {"offsets/0", "offsets/1", "metadata"}


def test_an_empty_folder_is_looked_at_once():
    wants, rounds = seen({})
    assert rounds == 1
    assert wants.files == {"metadata"}


@pytest.mark.parametrize("path", checkpoints(*CONNECTORS, "pyds"), ids=name)
def test_what_is_wanted_is_all_that_the_checkpoint_is_read_from(path):
    """Read from a disk with the selector, and whole: the same batches, and every entry that either
    the next start or the history needs."""
    chosen = checkpoint_of(Tree(Local(str(path)), select("")).read())
    whole = checkpoint_of(images(path).values())
    assert chosen.batches.keys() == whole.batches.keys()
    for number, batch in whole.batches.items():
        assert chosen.batches[number].positions == batch.positions
    assert (chosen.listed, chosen.anomalies, chosen.scalas) == (whole.listed, (), whole.scalas)
    newest = whole.newest
    assert newest is not None
    assert chosen.entries.get(newest, {}).keys() == whole.entries.get(newest, {}).keys()
    last = {shard: number for number, batch in whole.batches.items() for shard in batch.positions}
    for shard, number in last.items():
        if shard in whole.entries.get(number, {}):
            found = chosen.entries[number][shard].position
            assert found == whole.entries[number][shard].position


def long_checkpoint(batches: int) -> dict[str, Image]:
    """One shard that is read on and on; the first batch names one more."""
    metadata = '{"batchWatermarkMs":0,"batchTimestampMs":1795219500000,"conf":{}}'
    found = {
        "offsets/": Image("offsets/", {}), "commits/": Image("commits/", {}),
        "sources/": Image("sources/", {}), "sources/0/": Image("sources/0/", {}),
        "metadata": file("metadata", '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}'),
    }
    position = Position(TRIM_HORIZON)
    for number in range(batches):
        shards = [shard_id(0)] if number else [shard_id(0), shard_id(1)]
        line = awslabs.line("st", number, dict.fromkeys(shards, position), "2.12")
        log = f"{BATCHES}/{number}"
        found[f"offsets/{number}"] = file(f"offsets/{number}", f"v1\n{metadata}\n{line}")
        found[f"commits/{number}"] = file(f"commits/{number}", 'v1\n{"nextBatchWatermarkMs":0}')
        found[f"{log}/"] = Image(f"{log}/", {})
        entry = f"{log}/{shard_id(0)}"
        found[entry] = file(entry, entry_text(awslabs, shard_id(0), position))
    return found


@pytest.mark.parametrize("batches", [40, 60])
def test_a_long_history_is_read_from_its_newest_batch_and_no_further_than_said(
    batches, monkeypatch
):
    assert sources.BATCHES_READ == 1000, "as docs/spark.md says"
    monkeypatch.setattr(sources, "BATCHES_READ", 40)
    all_ = long_checkpoint(batches)
    wants, _ = seen(all_)
    newest = {f"offsets/{n}" for n in range(batches - 40, batches)}
    assert {one for one in wants.files if one.startswith("offsets/")} == newest
    beside = 40 + 5
    assert len(wants.files) <= beside, "two commits, two logs and metadata"
    known = [
        image if key in wants.files or key.endswith("/") else Image(key, {"size": {"N": "1"}})
        for key, image in all_.items()
    ]
    checkpoint = checkpoint_of(known)
    older = batches - 40
    assert (len(checkpoint.batches), checkpoint.older) == (40, older)
    assert checkpoint.gaps == () and checkpoint.newest == batches - 1
    said = list(notes(checkpoint, App(AWSLABS_1_4_2, Start.TRIM_HORIZON), {}))
    assert [f"{older} batches before {older}" in one for one in said] == [True] * bool(older)
