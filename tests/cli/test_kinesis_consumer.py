"""kinesis-consumer on the command line, on DynamoDB: cases and recorded stores from end to end.

What has to come out is in the case files and beside the recorded stores, which cite the runs on the
real library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from reshardctl.model import Image
from reshardctl.snapshot.file import load as load_snapshot
from tests.cli.end_to_end import ends, fixed_cases, repaired
from tests.cli.kinesis_consumer_lab import PositionsLab, positions_lab
from tests.cli.lab import fake_of, opened, option_words
from tests.cli.restoring import written_and_undone_as_printed
from tests.support.case import CASES, Case, load
from tests.support.dialects import kinesis_consumer as dialect
from tests.support.golden_kinesis_consumer import RELEASES, STARTS, STORES, images_of
from tests.support.golden_kinesis_consumer import fake_of as golden_fake

SAID = "?app=app&initial=TRIM_HORIZON&release=0.5"
Made = Callable[..., PositionsLab]


@pytest.fixture
def made(servers, tmp_path, monkeypatch, wire) -> Iterator[Made]:
    """A lab of a case, by the case or by its file's name."""
    with ExitStack() as stack:

        def make(case: Case | str, options: str = SAID) -> PositionsLab:
            if isinstance(case, str):
                case = load(CASES / "kinesis-consumer" / f"{case}.toml")
            lab = stack.enter_context(
                opened(servers, fake_of(case), [], tmp_path / "state", monkeypatch, wire)
            )
            lab.options = options
            return stack.enter_context(positions_lab(lab, dialect.images(case)))

        yield make


@pytest.fixture
def recorded(base_of, entered) -> Made:
    """A lab of a recorded store."""

    def make(store: Path, options: str = SAID) -> PositionsLab:
        lab = base_of(golden_fake(store))
        lab.options, lab.stream = options, "st"
        return entered.enter_context(positions_lab(lab, images_of(store)))

    return make


def _in_a_table(case: Case) -> bool:
    """Whether it has rows as they may be in DynamoDB."""
    return bool(case.state.get("rows")) and "ddb" in (case.stores or ("ddb",))


@pytest.mark.long
@pytest.mark.parametrize(("case", "initial", "release", "expect"), list(
    fixed_cases("kinesis-consumer", pairs=ends, holds=_in_a_table)
))
def test_a_case_from_end_to_end(made, case, initial, release, expect):
    lab = made(case, option_words(initial, release, case.stream["created"]) + "&app=app")
    repaired(lab, case, expect, lambda shard: f"app-orders/shardId-{shard:012d}")


@pytest.mark.long
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)
def test_a_recorded_store_from_end_to_end(recorded, store, release, start):
    """Inspect, fix, fix again, undo. What is right to write is in test_golden_kinesis_consumer."""
    lab = recorded(store, f"?app=app&initial={start}&release={release}")
    before = lab.items()
    seen = lab.inspect("--format", "json")
    errors = {f["code"] for f in seen.json["findings"] if f["severity"] == "error"}
    assert seen.code == bool(errors)
    assert not errors or start == "LATEST", "with TRIM_HORIZON none of them misses anything"
    assert store.name != "g1-healthy-mid-read" or not seen.codes
    wide = ("--accept", "reread=3h")
    done = lab.fix(*wide, "--format", "json")
    after = lab.items()
    if done.code == 1:
        assert done.json["decision"]["kind"] == "no-safe-plan"
        assert release.startswith("master") and start == "LATEST"
        assert after == before
        return
    assert done.code == 0, done.err
    again = lab.dry(*wide, "--format", "json").json["decision"]["kind"]
    assert again == "nothing" or (release.startswith("master") and start == "LATEST")
    left = lab.inspect("--format", "json")
    assert left.code == 0
    lasting = {"RSH214", "RSH217", "RSH202"} if again == "no-safe-plan" else {"RSH214", "RSH217"}
    assert left.codes <= lasting, "what no row can keep from being so, and nothing else"
    if after == before:
        assert lab.journals() == []
        return
    assert lab.undo().code == 0
    assert lab.items() == before, "byte and type"


# what no store holds


@pytest.mark.parametrize(("options", "option"), [
    ("?app=app", "initial"), ("?app=app&initial=LATEST", "release"),
])
def test_what_no_store_holds_is_asked_for(made, options, option):
    lab = made("a", options)
    before = lab.items()
    done = lab.fix()
    assert done.code == 4
    assert f"{option}=" in done.out + done.err
    assert lab.items() == before


def test_where_all_of_them_agree_nothing_is_asked(made):
    """Every shard has a row, and no release would leave any of it unread."""
    lab = made("i", "?app=app")
    assert lab.dry("--format", "json").json["decision"]["kind"] == "nothing"


def test_nothing_tells_that_it_runs_so_the_operator_has_to(made):
    lab = made("a", "?app=app&initial=LATEST&release=0.5")
    before = lab.items()
    done = lab.cli("fix", *lab.where, "--yes", "--watch", "1s")
    assert done.code == 4
    assert done.says("this store does not show", "--assume-stopped")
    assert lab.items() == before
    others = {key: item for key, item in before.items() if not key.startswith("app-orders")}
    assert lab.fix().code == 0
    assert len(others) == 2 and others.items() <= lab.items().items(), "of another application"


def test_a_row_that_moves_between_plan_and_write_stops_the_fix(made, wire):
    """A flush of a consumer that was not stopped after all."""
    lab = made("f-swapped", "?app=app&initial=LATEST&release=0.5")
    key = "app-orders/shardId-000000000001"
    later = lab.items()["app-orders/shardId-000000000000"]["sequence_number"]
    wire.do("TransactWriteItems", lambda: lab.change(key, sequence_number=later))
    done = lab.fix()
    assert done.code == 4
    assert lab.items()[key]["sequence_number"] == later


# what an earlier start may have missed


@pytest.mark.parametrize("part", [[], ["--not-rule", "RSH217"], ["--rule", "RSH207"]])
def test_swapped_rows_are_swapped_back_and_no_further(made, part):
    lab = made("f-swapped", "?app=app&initial=LATEST&release=0.5")
    one, two = (f"app-orders/shardId-00000000000{n}" for n in (1, 2))
    before = lab.items()
    done = lab.fix(*part)
    assert done.code == 0, done.err
    assert "left alone" not in done.out + done.err
    after = lab.items()
    assert after[one]["sequence_number"] == before[two]["sequence_number"]
    assert after[two]["sequence_number"] == before[one]["sequence_number"]


def test_a_child_is_read_again_only_by_name(made):
    lab = made("healthy-children-read", "?app=app&initial=LATEST&release=0.5")
    before = lab.items()
    assert lab.fix().code == 0
    assert lab.items() == before
    done = lab.fix("--set", "1=TRIM_HORIZON")
    assert done.code == 0, done.err
    moved = [key for key, item in lab.items().items() if item != before[key]]
    assert moved == ["app-orders/shardId-000000000001"]


def test_a_doubtful_loss_keeps_no_certain_one_from_being_mended(made):
    """--yes alone: 2 and 3 cost nothing, 1 is read again for eight hours or was never read."""
    lab = made("doubtful-root", "?app=app&initial=LATEST&release=0.5")
    row = "app-orders/shardId-00000000000{}".format
    shown = lab.cli("fix", *lab.where, "--dry-run", "--format", "json").json["decision"]
    assert {change["shard"][-1] for change in shown["changes"]} == {"1", "2", "3"}
    done = lab.cli("fix", *lab.where, "--yes", "--assume-stopped", "--format", "text")
    assert done.code == 1, done.err
    assert "--accept reread=" in done.out
    assert set(lab.items()) == {row(0), row(2), row(3)}
    ended, looked = done.out.split("Done.")[1], lab.inspect("--format", "text").out
    assert "1 warning.  1 fixable." in looked and "1 warning.  1 fixable." in ended
    taken = lab.cli("fix", *lab.where, "--yes", "--assume-stopped", "--accept", "reread=9h")
    assert taken.code == 0, taken.err
    assert row(1) in lab.items()


# whose rows


def test_without_an_application_the_rows_are_named(made):
    lab = made("a", "?initial=LATEST&release=0.5")
    done = lab.inspect()
    assert done.code == 2
    assert done.says("names no application", "app-orders", "app=app")


def test_another_application_s_rows_are_not_in_a_snapshot(made, tmp_path):
    lab = made("a", "?app=app&initial=LATEST&release=0.5")
    file = tmp_path / "orders.snapshot"
    assert lab.cli("snapshot", lab.locator, "--stream", "orders", "-o", file).code == 0
    (taken,) = load_snapshot(file).consumers
    assert {image.key.partition("/")[0] for image in taken.images} == {"app-orders"}
    again = lab.cli("inspect", f"snapshot:{file}", "--format", "json")
    assert again.codes == lab.inspect("--format", "json").codes


def test_an_application_without_rows_is_not_taken_for_a_new_one(made):
    lab = made("a", "?app=ap&initial=LATEST&release=0.5")
    done = lab.inspect()
    assert done.code == 6
    assert done.says("holds no position", "positions of", "app=app")


def test_an_ambiguous_namespace_of_another_stream_is_refused(made):
    """app=a, stream b-c and app=a-b, stream c share the rows a-b-c: numbers tell."""
    lab = made("a", "?app=app&initial=LATEST&release=0.5")
    key = "app-orders/shardId-000000000000"
    number = lab.items()[key]["sequence_number"]["S"]
    # Epoch and time of the number (bits 148 and 36) a year and more later.
    shifted = str(int(number) + (40_000_000 << 148) + (40_000_000 << 36))
    lab.change(key, sequence_number={"S": shifted})
    done = lab.inspect()
    assert done.code == 2
    assert done.says("app-orders", "another stream", "--stream")


def test_a_table_of_another_shape_is_refused(lab_of):
    lab = lab_of("a-both")
    done = lab.cli(
        "inspect", f"kinesis-consumer+ddb://{lab.table.name}?app=app", "--stream", lab.stream
    )
    assert done.code == 2
    assert done.says("kinesis-consumer positions", "HASH namespace (S), RANGE shard_id (S)")


@pytest.mark.parametrize(("options", "words"), [
    ("?app=app&inital=LATEST", ["inital", "app, initial"]),
    ("?app=app&initial=EARLIEST", ["EARLIEST", "TRIM_HORIZON"]),
    ("?app=app&release=0.3", ["0.3", "0.4"]),
    ("?app=app&release=telegraf-1.28", ["telegraf-1.28", "harlow/kinesis-consumer", "release=0.4"]),
    ("?app=app&release=telegraf-1.36&initial=AT_TIMESTAMP:2026-11-01T00:00:00Z", ["AT_TIMESTAMP"]),
])
def test_bad_options_are_named(made, options, words):
    done = made("a", options).inspect()
    assert done.code == 2
    assert done.says(*words)


def test_a_new_application_is_begun_where_it_is_asked_to(made):
    """--bootstrap writes rows only where the start mode would not do the same."""
    lab = made("b1", "?app=app&initial=LATEST&release=0.5")
    done = lab.fix("--bootstrap", "--policy", "lossless")
    assert done.code == 0, done.err
    assert len(lab.items()) == 3
    assert lab.undo().code == 0
    assert lab.items() == {}


def test_attributes_of_others_on_a_row_stay(made):
    lab = made("f-swapped")
    key = "app-orders/shardId-000000000001"
    lab.change(key, note={"SS": ["kept", "by us"]}, ttl={"N": "7"})
    before = lab.items()
    assert lab.fix().code == 0
    assert lab.items()[key]["note"] == before[key]["note"]
    assert lab.undo().code == 0
    assert lab.items() == before


def test_a_redacted_snapshot_is_judged_alike_and_names_nobody(made, tmp_path):
    lab = made("b4", "?app=nightly-etl&initial=LATEST&release=0.5")
    for item in list(lab.items().values()):
        fresh = {**item, "namespace": {"S": "nightly-etl-orders"}}
        lab.plant_images([Image("", fresh)])
    seen = lab.inspect("--format", "json")
    file = tmp_path / "bug.json"
    assert lab.cli("snapshot", lab.locator, "--stream", "orders", "-o", file, "--redact").code == 0
    text = file.read_text(encoding="utf-8")
    assert not [name for name in ("nightly", "etl", "orders", lab.name) if name in text]
    again = lab.cli("inspect", f"snapshot:{file}", "--format", "json")
    assert again.codes == seen.codes == {"RSH209", "RSH217"}


def test_what_is_printed_writes_and_undoes_as_it_stands(made, tmp_path):
    lab = made("f-swapped", "?app=app&initial=LATEST&release=0.5")
    written_and_undone_as_printed(lab, lab.items, tmp_path)
