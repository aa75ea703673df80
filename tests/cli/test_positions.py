"""`fix --positions`, `--set` and `--shift` on a KCL table: what is written, its price, errors."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest

from tests.cli.lab import TRIM_HORIZON, Lab

ROW = "shardId-000000000001"
COUNTED = {"leaseCounter", "leaseOwner", "checkpointOwner", "ownerSwitchesSinceCheckpoint"}
"""What no write of ours restores: tokens of the workers."""


def numbers(lab: Lab, shard: int) -> list[str]:
    return [str(r.number) for r in lab.fake.stream(lab.stream).shards[shard].records]


def checkpoints(lab: Lab) -> dict[str, dict]:
    return {
        key: {name: value for name, value in item.items() if name not in COUNTED}
        for key, item in lab.items().items()
    }


def snapshot(lab: Lab, path: Path) -> Path:
    assert lab.cli("snapshot", lab.locator, "--stream", lab.stream, "-o", path).code == 0
    return path


def export(lab: Lab, path: Path, *more: str) -> Path:
    assert lab.cli("export", *lab.where, "-o", path, *more).code == 0
    return path


@pytest.mark.parametrize("form", ["json", "csv"])
def test_an_export_of_the_same_positions_is_an_empty_plan(lab, tmp_path, form):
    """Although two children have no lease: only what the file names is moved."""
    before = lab.items()
    path = export(lab, tmp_path / "orders.positions", "--format", form)
    done = lab.dry("--positions", path, "--format", "json")
    assert done.json["decision"]["kind"] == "nothing", done.err
    lab.fix("--positions", path)
    assert lab.items() == before and lab.journals() == []


def test_a_table_goes_back_to_a_snapshot_and_forth_again(lab, tmp_path):
    saved = snapshot(lab, tmp_path / "orders.snapshot")
    before = checkpoints(lab)
    for shard in (1, 2):
        lab.plant({**lab.items()[ROW], "leaseKey": {"S": f"shardId-{shard:012d}"},
                   "checkpoint": {"S": numbers(lab, shard)[3]}})
    later = lab.items()
    done = lab.fix("--positions", saved, "--format", "json")
    assert done.code == 1, done.err  # the snapshot has no lease of 2 and 3: RSH203 is left
    assert checkpoints(lab)[ROW] == before[ROW]
    assert lab.items()["shardId-000000000002"] == later["shardId-000000000002"], "not in the file"
    assert lab.undo().code == 0
    assert {k: v["checkpoint"] for k, v in lab.items().items()} == {
        k: v["checkpoint"] for k, v in later.items()
    }


def test_a_lost_row_comes_back_and_its_price_is_asked_for(lab, tmp_path):
    """Its lease is lost: what it had read, no row proves, so the skip needs consent."""
    saved = snapshot(lab, tmp_path / "orders.snapshot")
    lost = lab.items()[ROW]
    lab.table.boto.delete_item(TableName=lab.table.name, Key={"leaseKey": {"S": ROW}})
    surely = ("--created", lab.created)
    refused = lab.fix("--positions", saved, *surely)
    assert refused.code == 4 and ROW not in lab.items()
    assert "--accept skip=" in refused.err and f"--positions {saved}" in refused.err
    done = lab.fix("--positions", saved, *surely, "--accept", "skip=all")
    assert done.code == 1, done.err  # RSH203 of the children is left
    assert lab.items()[ROW]["checkpoint"] == lost["checkpoint"]


def test_an_emptied_table_is_filled_from_a_snapshot_once_it_is_declared(lab, tmp_path):
    assert lab.fix("--journal", tmp_path / "first.jsonl").code == 0
    saved, before = snapshot(lab, tmp_path / "orders.snapshot"), lab.items()
    for key in before:
        lab.table.boto.delete_item(TableName=lab.table.name, Key={"leaseKey": {"S": key}})
    assert lab.fix("--positions", saved).code == 6
    refused = lab.fix("--positions", saved, "--bootstrap")
    assert refused.code == 4 and "--accept skip=" in refused.err and lab.items() == {}
    done = lab.fix("--positions", saved, "--bootstrap", "--accept", "skip=all")
    assert done.code in (0, 1), done.err
    assert lab.items()[ROW]["checkpoint"] == before[ROW]["checkpoint"]
    # 0 is over, and no start needs its lease to know: it is not made again, and RSH202 warns.
    left = lab.inspect("--format", "json")
    assert (left.code, left.codes, "shardId-000000000000" in lab.items()) == (0, {"RSH202"}, False)
    assert lab.undo().code in (0, 1) and lab.items() == {}


def test_a_row_is_set_with_a_price_and_undone(lab):
    first, last = numbers(lab, 1)[0], numbers(lab, 1)[-1]
    before = lab.items()
    refused = lab.fix("--set", f"1={last}")
    assert refused.code == 4 and "--accept skip=" in refused.err
    assert f"--set 1={last}" in refused.err
    assert lab.items() == before
    lab.fix("--set", f"1={last}", "--accept", "skip=1h")
    assert lab.items()[ROW]["checkpoint"] == {"S": last}
    assert lab.undo().code == 0 and checkpoints(lab)[ROW] == {
        name: value for name, value in before[ROW].items() if name not in COUNTED
    }
    lab.fix("--set", f"1={first}")
    assert lab.items()[ROW]["checkpoint"] == {"S": first}
    lab.fix("--set", "1=TRIM_HORIZON")
    assert lab.items()[ROW]["checkpoint"] == {"S": "TRIM_HORIZON"}


def test_a_time_becomes_a_number(lab):
    """A store's own mark for a time is never written."""
    third = lab.fake.stream(lab.stream).shards[1].records[2]
    from reshardctl.model.times import instant

    lab.fix("--set", f"1=AT_TIMESTAMP:{instant(third.arrival - 30)}", "--accept", "skip=1h")
    assert lab.items()[ROW]["checkpoint"] == {"S": numbers(lab, 1)[1]}


def test_positions_move_back_by_a_time(lab):
    """1 goes back 10 min from its last record. 2 and 3 opened at 601 s and were never begun: 10 min
    earlier is second 1, in their parent, whose first record came at 60 s."""
    lab.alter(ROW, checkpoint={"S": numbers(lab, 1)[-1]})
    records = lab.fake.stream(lab.stream).shards[1].records
    target = int(records[-1].number >> 36 & 0xFFFFFFFFF) - 600
    expected = [r for r in records if r.arrival < target][-1]
    done = lab.fix("--shift", "-10m")
    assert done.code == 0, done.err
    assert lab.items()[ROW]["checkpoint"] == {"S": str(expected.number)}
    assert lab.items()["shardId-000000000000"]["checkpoint"] == {"S": "TRIM_HORIZON"}
    again = lab.dry("--set", "1=" + str(expected.number), "--format", "json")
    assert again.json["decision"]["kind"] == "nothing"


def test_a_saved_plan_holds_the_positions(lab, tmp_path):
    first, plan = numbers(lab, 1)[0], tmp_path / "set.plan"
    lab.dry("--set", f"1={first}", "--out", plan)
    done = lab.apply(plan)
    assert done.code in (0, 1), done.err
    assert lab.items()[ROW]["checkpoint"] == {"S": first}


def test_a_shard_that_is_not_there_is_named(lab):
    before = lab.items()
    done = lab.fix("--set", "9=TRIM_HORIZON")
    assert done.code == 2 and done.says("--set 9=TRIM_HORIZON", "lists no such shard")
    assert lab.items() == before


def test_a_number_of_another_shard_is_refused_with_its_line(lab, tmp_path):
    path = tmp_path / "p.csv"
    other = numbers(lab, 2)[0]
    path.write_text(f"shard,kind,number\n0,SHARD_END,\n1,AFTER_SEQUENCE_NUMBER,{other}\n")
    done = lab.fix("--positions", path)
    assert done.code == 2 and done.says(f"{path}: line 3: shard 1", "is a number of shard 2")


def test_a_shard_that_a_file_gives_twice_is_named_with_both_lines(lab, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("shard,kind,number\n1,LATEST,\nshardId-000000000001,LATEST,\n")
    done = lab.fix("--positions", path)
    first = f"{path}: line 3: shard 1 is given twice, first in {path}: line 2\n"
    assert done.code == 2 and done.says(first)


def test_positions_of_another_stream_are_refused(lab, tmp_path):
    path = export(lab, tmp_path / "p.json")
    document = json.loads(path.read_text())
    document["stream"]["created"] = "2020-01-01T00:00:00Z"
    path.write_text(json.dumps(document))
    done = lab.fix("--positions", path)
    assert done.code == 2 and done.says(str(path), "2020-01-01T00:00:00Z", "export the positions")


def test_an_entry_that_says_nothing_new_is_left_alone_and_named_if_inferred(lab, tmp_path):
    path = export(lab, tmp_path / "p.json")
    shown = lab.dry("--positions", path, "--format", "text")
    notes = " ".join(shown.out.split())
    assert "has no stored position of shard 2, 3: left alone" in notes
    assert "not listed any more" not in notes


def test_an_entry_of_a_shard_that_has_expired_since_is_left_alone_and_named(lab, tmp_path):
    """Shard 0: closed, and past the stream's retention (ListShards leaves it out then)."""
    path = tmp_path / "s.json"
    assert lab.cli("snapshot", *lab.where, "-o", path).code == 0
    lab.fake.trim_shard("orders", 0)
    lab.alter("shardId-000000000000", checkpoint={"S": "TRIM_HORIZON"})
    shown = lab.dry("--positions", path, "--format", "text")
    assert f"shard 0 of {path} is not listed any more: left alone" in " ".join(shown.out.split())


EDITS: dict[str, tuple[dict[str, object], str]] = {
    "another kind": ({"kind": "TRIM_HORIZON", "number": None, "sub_number": None},
                     "kind, number, sub_number differ"),
    "another record": ({"sub_number": 3}, "sub_number differs"),
    "no kind": ({"kind": None}, ""),
    "another time": ({"time": "2026-11-21T00:00:00Z"}, ""),
}


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_entry_that_was_edited_and_says_what_is_stored_is_refused(lab, tmp_path, form, edit):
    """Whoever changed `kind` and left `stored` was told that the store holds it already."""
    path, (changes, said) = tmp_path / f"p.{form}", EDITS[edit]
    export(lab, path, "--format", form)
    entry = edited(path, changes)
    shown = lab.fix("--positions", path)
    if not said:
        assert shown.code in (0, 1) and lab.wire.writes == []
        return
    place = "line 3: shard 1:" if form == "csv" else "positions[1]: shard 1:"
    assert shown.code == 2 and shown.says(f"{path}: {place} {said} from stored", "clear stored")
    assert lab.wire.writes == [] and lab.journals() == []
    edited(path, {**entry, "stored": None})
    assert lab.fix("--positions", path, "--accept", "reread=all,skip=all").code in (0, 1)
    assert lab.wire.writes != []


def edited(path: Path, changes: dict[str, object]) -> dict[str, object]:
    """The entry of shard 1, once it is changed in the file."""
    if path.suffix == ".json":
        body = json.loads(path.read_text())
        body["positions"][1] |= changes
        path.write_text(json.dumps(body))
        return body["positions"][1]
    head, *rows = csv.reader(path.read_text().splitlines())
    rows[1] = [str(changes.get(n, v) or "") for n, v in zip(head, rows[1], strict=True)]
    path.write_text("".join(f"{','.join(row)}\n" for row in [head, *rows]))
    return dict(zip(head, rows[1], strict=True))


@pytest.mark.parametrize(("old", "new", "said"), [
    ('"created":"', '"created":"x', "stream.created: 'x"),
    ('"taken":"', '"taken":7,"taken2":"', "unknown member 'taken2'"),
])  # fmt: skip
def test_a_file_that_was_edited_is_named(lab, tmp_path, old, new, said):
    path = tmp_path / "positions.json"
    assert lab.cli("export", *lab.where, "-o", path).code == 0
    text = json.dumps(json.loads(path.read_text()), separators=(",", ":"))
    assert old in text
    path.write_text(text.replace(old, new))
    result = lab.dry("--positions", path)
    assert result.code == 2 and result.says(str(path), said)


def test_a_shard_that_is_not_listed_and_a_strange_number_lead_to_what_is_there(lab):
    for given in ("77=LATEST", "2=123"):
        wrong = lab.dry("--set", given)
        assert wrong.code == 2
        argv = shlex.split(wrong.err.rpartition("reshardctl ")[2])
        assert argv[1:] == [lab.locator, "--stream", lab.stream]
        assert lab.cli(*argv).code in (0, 1), "complete as it stands"


def test_an_empty_table_leads_to_both_ways_complete(lab_of):
    lab = lab_of("a-both", TRIM_HORIZON, items=[])
    empty = lab.inspect()
    assert empty.code == 6
    lost, new = empty.err.partition("If it lost its positions: ")[2].split("; if it is new: ")
    words = [lab.locator, "--stream", lab.stream]
    assert shlex.split(lost)[1:] == ["rebuild", *words, "--from", "SINK", "--dry-run"]
    assert shlex.split(new)[1:] == ["fix", "--dry-run", "--bootstrap", *words]


def test_what_given_positions_skip_is_not_called_a_policy(lab):
    """`--policy positions` is none (docs/policies.md)."""
    shown = lab.dry("--set", "2=LATEST", "--format", "text").out
    assert "the positions that were given skip intentionally:" in shown
    assert "policy positions" not in shown


def test_an_end_whose_children_have_no_leases_says_to_give_them_some(lab):
    """KCL creates the children from an unfinished parent: an ended one needs them beside it."""
    first = str(lab.fake.stream(lab.stream).shards[0].records[1].number)
    lab.alter("shardId-000000000000", checkpoint={"S": first})
    alone = lab.dry("--set", "0=SHARD_END", "--format", "text")
    assert alone.code == 1 and "it has none of shards 2, 3" in " ".join(alone.out.split())
    (way,) = [line for line in alone.out.splitlines() if "way out: " in line]
    argv = way.partition("give them one, too: ")[2].split()
    assert argv == ["--set", "2=TRIM_HORIZON", "--set", "3=TRIM_HORIZON"]
    both = lab.dry("--set", "0=SHARD_END", *argv, "--format", "text")
    assert "Plan: 2 to create, 1 to move" in both.out


def test_a_kind_without_a_number_beside_a_number_is_refused(lab, tmp_path):
    """Which of both is meant, nobody can tell (docs/policies.md, positions as data)."""
    number = lab.fake.stream(lab.stream).shards[1].records[1].number
    for kind in ("TRIM_HORIZON", "LATEST"):
        path = tmp_path / f"{kind}.csv"
        path.write_text(f"shard,kind,number\n1,{kind},{number}\n")
        refused = lab.dry("--positions", path)
        assert refused.code == 2 and refused.says(f"{kind} and a sequence number", "leave number")
