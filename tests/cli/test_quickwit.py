"""Quickwit's file-backed metastore: what test_quickwit_postgres.py has not of both media.

The stores are those that the real metastores of 0.8.2 and 0.9.0 wrote; what has to come out is what
the real Kinesis sources did with them (tests/golden/quickwit, runs of November 2026).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from reshardctl.errors import CannotTell
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.quickwit.indexes import Indexes
from tests.cli.quickwit_lab import QuickwitLab, end, number, quickwit_lab
from tests.cli.restoring import written_and_undone_as_printed
from tests.support.case_stream import shard_name

Make = Callable[..., QuickwitLab]


@pytest.fixture
def golden(entered, servers, tmp_path, monkeypatch, wire) -> Make:
    """A lab of a recorded metastore in files."""
    return lambda release, state, options="", stream="events": entered.enter_context(
        quickwit_lab(release, state, servers, tmp_path, monkeypatch, wire, options, stream)
    )


UNREAD_IN_0 = {
    # r5 to r9 of ten, or all of them (scenario.json and the stored positions)
    state: f"a read found {count} unread records in shard 0"
    for state, count in {"q2": 5, "q4": 10, "q5": 10}.items()
}


@pytest.mark.parametrize("state", ["q2", "q4", "q5"])
@pytest.mark.parametrize("probe", [[], ["--probe"]], ids=["unprobed", "probed"])
def test_a_resharded_stream_kills_the_old_release_and_unread_records_leave_no_line(
    golden, state, probe
):
    """0.8.2 panicked on each (real_source.json); its parents are part-read or unread."""
    lab = golden("0.8.2", state)
    before = lab.everything()
    seen = lab.inspect("--format", "json", *probe)
    assert (seen.codes, seen.code) == ({"RSH231"}, 1)
    (finding,) = [f for f in seen.json["findings"] if f["code"] == "RSH231"]
    assert finding["shards"] == [shard_name(0)]
    said = json.dumps(finding)
    assert "channel closed" in said
    assert "2027-11-20T01:00:00Z" in said, "an hour after creation, and a retention of a year"
    assert "deleting or resetting the source does not help" in said
    done = lab.fix("--format", "json", *probe)
    assert done.code == 1
    ways = json.dumps(done.json["decision"])
    assert "0.9.0" in ways and "2027-11-20T01:00:00Z" in ways and "--policy latest" in ways
    found = UNREAD_IN_0[state]
    assert (found in ways, "if --probe finds nothing left" in ways) == (bool(probe), not probe)
    assert lab.everything() == before


def test_a_bare_end_mark_asks_for_the_re_read_that_it_costs(golden):
    lab = golden("0.9.0", "q3b")
    done = lab.fix("--format", "json")
    assert done.code == 4
    assert "--accept reread=1h30m" in done.out
    assert lab.positions()[shard_name(0)] == "~"


def test_which_release_runs_is_asked_where_the_file_leaves_it_open(golden):
    lab = golden("0.8.2", "q2")
    lab.options = ""
    assert lab.inspect("--format", "json").codes == {"RSH201", "RSH231"}
    asked = lab.fix("--format", "json")
    assert asked.code == 4
    assert "release=0.8.2" in asked.err + asked.out and "release=0.9.0" in asked.err + asked.out


def test_backfill_is_told_that_it_is_a_race(golden):
    lab = golden("0.9.0", "q6", "&index=audit")
    seen = lab.inspect("--format", "json")
    assert (seen.codes, seen.code) == ({"RSH233"}, 0)
    assert "enable_backfill_mode" in seen.out


def test_a_watch_rules_out_nothing(golden):
    """A metastore does not change while a source has nothing to publish, or is down."""
    watch = golden("0.9.0", "q2").inspect("--watch", "60s", "--format", "json").json["watch"]
    assert watch["runs"] is False and "rule out nothing" in watch["excluded"]


def test_another_stream_of_the_same_index(golden):
    lab = golden("0.9.0", "q6", stream="clicks")
    assert (lab.inspect("--format", "json").codes) == set()


NUMBERED, MAPS = '"kinesis-events": {\n', '"checkpoint": {\n'
BROKEN = {
    "cut off": (lambda t: t[:-9], ("malformed JSON", "line")),
    "trailing text": (lambda t: t + "\n{}", ("text after the end",)),
    "trailing comma": (lambda t: t.replace('"delete_tasks": []', '"delete_tasks": [],'),
                       ("comma",)),
    "byte order mark": (lambda t: "\ufeff" + t, ("byte order mark",)),
    "not a number": (lambda t: t.replace('"create_timestamp": 1', '"a": NaN, "b": 1'), ("NaN",)),
    "no version": (lambda t: t.replace('"version": "0.9",', "", 1), ("version",)),
    "no checkpoint": (lambda t: t.replace('"checkpoint"', '"checkpoints"', 1), ("checkpoint",)),
    "half a pair": (lambda t: t.replace('"body"', '"\\ud800"', 1), ("surrogate",)),
    "empty": (lambda t: t[:0], ("no JSON object",)),
    "no object": (lambda _: "[]", ("no JSON object",)),
    "another object": (lambda _: "{}", ("missing field",)),
    "binary": (lambda t: t.replace('"body"', '"b\udcff"', 1), ("not UTF-8",)),
}
BAD = {
    "shard twice": (lambda t: t.replace(NUMBERED, NUMBERED + '"shardId-000000000001": "1",', 1),
                    ("shardId-000000000001", "twice")),
    "source twice": (lambda t: t.replace(MAPS, MAPS + '"kinesis-events": {},', 1),
                     ("kinesis-events", "twice")),
    "version": (lambda t: t.replace('"version": "0.9"', '"version": "0.6"', 1), ("0.6", "0.9")),
    "another index": (lambda t: t.replace('"events:', '"other:', 1), ("other", "events")),
    "not kinesis": (lambda t: t.replace('"source_type": "kinesis"', '"source_type": "kafka"'),
                    ("Kinesis source",)),
}


NAMED = "&index=events"


def with_index(damages: Iterable[str], *named: str) -> Any:
    """Each damage to the only index there is; `named` also where the locator names it."""
    rows = [*((name, "") for name in damages), *((name, NAMED) for name in named)]
    return pytest.mark.parametrize(("damage", "named"), rows)


@with_index(BROKEN, "cut off", "another object")
def test_what_quickwit_cannot_parse_is_a_finding(golden, damage, named):
    """load_index of store_operations.rs and PgIndex::index_metadata: serde_json takes all or fails.

    Then list_indexes_metadata fails as a whole, and nothing of the cluster is scheduled.
    """
    change, words = BROKEN[damage]
    lab = golden("0.9.0", "q2", named)
    lab.file().write_bytes(change(lab.text()).encode(errors="surrogateescape"))
    before = lab.everything()
    seen = lab.inspect("--format", "json")
    assert (seen.code, seen.codes) == (1, {"RSH301"}), seen.err
    (found,) = seen.json["findings"]
    assert all(word in str(found) for word in words)
    assert "no source of it runs" in str(found)
    done = lab.fix()
    assert done.code == 1 and "mend it" in done.out + done.err
    assert lab.everything() == before and lab.journals() == []


@pytest.mark.parametrize("named", ["", "&index=events", "&index=events&source=kinesis-events"])
def test_positions_that_cannot_be_read_are_not_exported_as_none(golden, named):
    lab = golden("0.9.0", "q2", named)
    lab.file().write_text("{")
    done = lab.cli("export", *lab.where)
    assert done.code == 2 and done.says("malformed JSON", "mend it")


def test_several_files_that_quickwit_cannot_parse_are_all_named(golden):
    lab = golden("0.9.0", "q6")
    for index in ("audit", "logs"):
        lab.file(index).write_text("{")
    lab.file("other").unlink(missing_ok=True)
    seen = lab.inspect("--format", "json")
    assert (seen.code, seen.codes) == (1, {"RSH301", "RSH307"}), seen.err
    assert "audit/metastore.json" in seen.out and "logs/metastore.json" in seen.out


@with_index(BAD, "version", "another index")
def test_what_is_no_text_for_this_consumer_is_refused(golden, damage, named):
    change, words = BAD[damage]
    lab = golden("0.9.0", "q2", named)
    lab.file().write_bytes(change(lab.text()).encode())
    before = lab.everything()
    for done in (lab.inspect(), lab.fix()):
        assert done.code == 2, done.out
        assert done.says(*words)
    assert lab.everything() == before


@pytest.mark.parametrize(("options", "words"), [
    ("index=events&source=nobody", ("nobody", "kinesis-events")),
    ("index=nobody", ("there is no index nobody", "it holds: events")),
    ("initial=LATEST", ("initial", "index, source and release")), ("release=0.6", ("0.6",)),
    ("release=0.8.2", ("0.8.2", "0.9")),  # the file is one of 0.9
])  # fmt: skip
def test_wrong_words_are_named(golden, options, words):
    lab = golden("0.9.0", "q2")
    lab.options = f"?{options}"
    done = lab.inspect()
    assert done.code == 2
    assert done.says(*words)


def test_a_folder_that_is_no_metastore(golden, tmp_path):
    lab = golden("0.9.0", "q2")
    lab.root = tmp_path / "state"
    lab.root.mkdir(exist_ok=True)
    assert lab.inspect().says("metastore.json", "metastore_uri")
    lab.options += "&index=events"
    assert lab.inspect().says("no file", "metastore_uri"), "the folder, not the index, is wrong"


def test_a_mistyped_index_is_not_taken_for_a_lost_file(golden):
    """Nobody restores a backup at night for a letter (docs/quickwit.md: `index=I`)."""
    lab = golden("0.9.0", "q6", "&index=audt")
    done = lab.inspect()
    assert done.code == 2
    assert done.says("no index audt", "did you mean audit?", "it holds: audit, logs, other")
    assert "backup" not in done.err


def test_another_stream_is_no_source_here(golden):
    lab = golden("0.9.0", "q6", "&index=audit", stream="clicks")
    done = lab.inspect()
    assert done.code == 2
    assert done.says("clicks", "audit/kinesis-audit reads events")


def test_no_fix_without_the_word_that_every_node_is_stopped(golden):
    """A node writes whole files from memory, an edit under it is lost (runs, Nov 2026)."""
    lab = golden("0.9.0", "q3")
    before = lab.everything()
    refused = lab.cli("fix", *lab.where, "--yes")
    assert refused.code == 4
    assert refused.says("--assume-stopped")
    unasked = lab.cli("fix", *lab.where)
    assert unasked.code == 4 and unasked.says("add --assume-stopped"), "before anybody is asked"
    assert lab.everything() == before


def test_the_runbook_says_that_nobody_can_tell_whether_it_runs(golden):
    book = golden("0.9.0", "q3").dry("--format", "markdown").out
    assert "does not show whether a process is running" in book
    assert "--assume-stopped" in book and "--watch" not in book


def test_a_reshard_that_would_kill_the_old_release_is_foreseen(golden):
    """#5896: the live reshard goes well, the next start dies."""
    lab = golden("0.8.2", "q1")
    assert lab.inspect("--format", "json").codes == set()
    foreseen = lab.inspect("--if-reshard", "split=0", "--format", "json")
    assert (foreseen.codes, foreseen.code) == ({"RSH231"}, 1)
    lab.options = "?release=0.9.0"
    assert lab.inspect("--if-reshard", "split=0", "--format", "json").codes == {"RSH201"}


def test_the_policy_that_skips_lets_the_old_release_start(golden):
    lab = golden("0.8.2", "q2")
    done = lab.fix("--policy", "latest", "--format", "json")
    assert done.code == 0, done.err + done.out
    assert lab.positions()[shard_name(0)] == end(lab, 0)
    assert {s: lab.positions()[shard_name(s)] for s in (1, 2, 3)} == {
        s: number(lab, s, 9) for s in (1, 2, 3)
    }
    assert lab.inspect("--format", "json").codes == set()


BREAKAGES = {
    "cut": lambda text: text[: len(text) // 2].encode(),
    "a comma lost": lambda text: text.replace(",", "", 1).encode(),
    "bytes": lambda text: b"\xff\xfe" + text.encode(),
    "emptied": lambda _: b"",
    "no metastore": lambda _: b"{}",
}


@with_index(BREAKAGES, "cut")
def test_a_file_that_somebody_broke_goes_back_as_a_whole(golden, damage, named):
    """Its rows cannot be read, so none of them can be put back; the journal has all of it."""
    lab = golden("0.9.0", "q3", named)
    before = lab.everything()
    assert lab.fix().code == 0
    lab.file().write_bytes(BREAKAGES[damage](lab.text()))
    broken = lab.file().read_bytes()
    refused = lab.undo("--format", "json")
    assert (refused.code, lab.file().read_bytes()) == (4, broken)
    assert "--whole-file" in refused.json["next"]
    assert "nothing was undone" in refused.json["what"]
    shown = lab.cli("undo", lab.journal(), "--whole-file", "-n")
    assert (shown.code, lab.file().read_bytes()) == (1, broken)
    assert "later changes to it are lost" in shown.err
    done = lab.undo("--whole-file")
    assert (done.code, lab.everything()) == (0, before), done.err
    assert "is undone already" in lab.undo().err


@pytest.mark.parametrize("landed", [False, True], ids=["before", "behind"])
def test_putting_a_whole_file_back_is_finished_when_it_was_cut_off(golden, monkeypatch, landed):
    lab = golden("0.9.0", "q3")
    before = lab.everything()
    assert lab.fix().code == 0
    lab.file().write_bytes(b"{")
    restore = Indexes.restore

    def cut_off(self: Indexes, name: str, text: str) -> WriteResult:
        if landed:
            restore(self, name, text)
        raise CannotTell("the disk went away")

    with monkeypatch.context() as patch:
        patch.setattr(Indexes, "restore", cut_off)
        stopped = lab.undo("--whole-file")
        assert stopped.code == 5, stopped.err
    done = lab.undo() if landed else lab.undo("--whole-file")
    assert (done.code, lab.everything()) == (0, before), done.err


def test_the_whole_of_a_readable_file_is_not_put_back(golden):
    """Quickwit may have saved into it: splits that were published since would be lost."""
    lab = golden("0.9.0", "q3")
    assert lab.fix().code == 0
    text = lab.text()
    assert lab.undo("--whole-file").code == 2
    assert lab.text() == text
    assert lab.undo().code == 0


def source_of(document: dict, name: str) -> dict:
    return next(s for s in document["index"]["sources"] if s["source_id"] == name)


def checkpoint_of(document: dict) -> dict:
    return document["index"]["checkpoint"]


NOT_LOADED = {  # every way is in tests/unit/consumers/test_quickwit_loading.py
    "its own map is a list": (
        lambda d: checkpoint_of(d).update({"kinesis-events": []}), "`kinesis-events`"),
    "two pipelines": (
        lambda d: source_of(d, "kinesis-events").update({"num_pipelines": 2}), "num_pipelines"),
}


@with_index(NOT_LOADED, "its own map is a list")
def test_a_text_that_quickwit_does_not_load_is_a_finding_and_is_not_written_into(
    golden, damage, named
):
    change, word = NOT_LOADED[damage]
    lab = golden("0.9.0", "q3", named)
    document = json.loads(lab.text())
    change(document)
    lab.file().write_text(json.dumps(document, indent=2))
    before = lab.everything()
    seen = lab.inspect("--format", "json")
    assert (seen.codes, seen.code) == ({"RSH301"}, 1), seen.err
    (finding,) = seen.json["findings"]
    assert "Quickwit does not load this index" in finding["costs"]
    assert word in json.dumps(finding)
    (head, _) = lab.inspect("--format", "text").out.split("way out")
    assert head.count(word) == 1, "what is wrong is said once"
    done = lab.fix("--format", "json", "--policy", "latest")
    assert done.code == 1, done.err + done.out
    assert "restore the file from a backup" in json.dumps(done.json["decision"])
    assert lab.everything() == before and lab.journals() == []


@pytest.mark.parametrize("kinesis", [True, False], ids=["its source", "no source of kinesis"])
def test_an_index_beside_it_that_is_not_loaded_is_told(golden, kinesis):
    """Listing all indexes then fails, and a control plane lists all at its start."""
    lab = golden("0.9.0", "q6", "&source=kinesis-events")
    document = json.loads(lab.text("audit"))
    checkpoint_of(document)["kafka"] = {"0": None}
    if not kinesis:
        document["index"]["sources"] = [
            s for s in document["index"]["sources"] if s["source_type"] != "kinesis"]
    lab.file("audit").write_text(json.dumps(document))
    seen = lab.inspect("--format", "json")
    assert "RSH307" in seen.codes, seen.err
    assert "`kafka`" in seen.out
    lab.options += "&index=logs"
    assert "RSH307" not in lab.inspect("--format", "json").codes


def test_what_is_printed_writes_and_undoes_as_it_stands(golden, tmp_path):
    lab = golden("0.9.0", "q3")
    written_and_undone_as_printed(lab, lab.everything, tmp_path)
