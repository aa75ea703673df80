"""Several journals: listed, found by name, undone in their order; and a plan whose journal is lost.

What has to come back is worked out from the rows before, not by the code under test.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.lab import TRIM_HORIZON
from tests.cli.test_bad_input import kept
from tests.unit.render.test_json import VALIDATOR


def fixed_twice(lab) -> tuple[dict, dict, str, str]:
    """Two fixes that write the same rows: the rows before each, and the journals' names."""
    first = lab.items()
    assert lab.fix().code == 0
    (older,) = lab.journals()
    second = lab.items()
    lab.fake.clock.advance(60)
    result = lab.fix("--policy", "latest-at-start", "--accept", "skip=9d,reread=9d")
    assert result.code == 0, result.err
    (younger,) = set(lab.journals()) - {older}
    assert lab.items() != second
    return first, second, older.stem, younger.stem


def undo(lab, name: str | Path, *more: str):
    return lab.cli("undo", name, "--yes", "--assume-stopped", *more)


def one_line(shown: str) -> str:
    """Commands as a shell joins them."""
    return " ".join(shown.replace("\\\n", " ").split())


def states(lab) -> dict[str, str]:
    listed = lab.cli("undo", "--list", "--format", "json")
    assert listed.code == 0
    VALIDATOR.validate(listed.json)
    return {one["name"]: one["state"] for one in listed.json["journals"]}


def test_journals_are_listed_newest_first(lab):
    *_, older, younger = fixed_twice(lab)
    assert list(states(lab).items()) == [
        (younger, "applied and verified"), (older, "applied and verified")
    ]
    document = lab.cli("undo", "--list", "--format", "json").json
    last, first = document["journals"]
    assert document["location"] == str(lab.state)
    assert (first["undo_first"], last["undo_first"]) == ([younger], [])
    assert last["policy"] == "latest-at-start" and last["locator"] == lab.locator
    assert set(first["rows"]) == {"shardId-000000000002", "shardId-000000000003"}
    shown = lab.cli("undo", "--list", "--format", "text").out
    assert shown.index(younger) < shown.index(older)
    assert f"reshardctl undo {younger}\n" in shown
    assert f"undo {younger} first" in shown
    lines = lab.cli("undo", "--list").out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [younger, older]


def test_a_journal_is_shown_with_its_rows_before_and_after(lab):
    """The second fix moves both children from their beginning to the tip."""
    *_, older, younger = fixed_twice(lab)
    calls = len(lab.wire.calls)
    shown = lab.cli("undo", "--show", older, "--format", "text")
    assert shown.code == 0 and older in shown.out and younger in shown.out, "undo it first"
    assert f"  reshardctl undo {younger}\n" in shown.out and f"undo {older}\n" not in shown.out
    made = shown.out[shown.out.index("--- /dev/null") :].splitlines()
    assert "+++ shardId-000000000002" in made and '+checkpoint = {"S": "TRIM_HORIZON"}' in made
    second = lab.cli("undo", "--show", younger[:-3], "--format", "text").out
    assert '-checkpoint = {"S": "TRIM_HORIZON"}' in second.splitlines()
    assert " leaseKey = " in second, "all of a row is shown"
    document = lab.cli("undo", "--show", younger, "--format", "json").json
    VALIDATOR.validate(document)
    journal = document["journal"]
    assert (journal["state"], journal["undo_first"]) == ("applied and verified", [])
    writes = [write for step in document["steps"] for write in step["writes"]]
    assert {write["key"] for write in writes} == set(journal["rows"])
    lines = lab.cli("undo", "--show", younger, "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["journal", "write", "write", "write"]
    assert len(lab.wire.calls) == calls, "neither the store nor the stream is asked"


def test_a_journal_that_was_undone_says_so_when_shown(lab):
    *_, younger = fixed_twice(lab)
    assert undo(lab, younger).code == 0
    first, how_far, *rows = lab.cli("undo", "--show", younger).out.splitlines()
    assert first.startswith(f"{younger}: undone") and rows[0].startswith("--- ")
    assert how_far == "undo: 3 of 3 rows put back"


def test_a_journal_that_cannot_be_read_is_not_shown(lab):
    fixed_twice(lab)
    path = lab.journals()[0]
    path.write_text("{}\n")
    result = lab.cli("undo", "--show", path.stem)
    assert result.code in (2, 3) and result.says(path.name)


def test_an_undo_that_names_none_lists_them_and_is_no_success(lab):
    """`reshardctl undo $JOURNAL` with an empty variable must not look as if it had undone."""
    assert lab.fix().code == 0
    fixed = lab.items()
    result = lab.cli("undo")
    assert result.code == 2 and result.says("no journal is named", "nothing was undone")
    assert lab.journal().stem in result.out and lab.items() == fixed
    result = lab.cli("undo", "--yes", "--assume-stopped")
    assert result.code == 2 and result.says("no journal is named") and lab.items() == fixed
    result = lab.cli("undo", "--list", "--yes")
    assert result.code == 2 and result.says("--list", "--yes")


def test_no_journals_at_all(lab):
    assert lab.cli("undo", "--list").out == f"no journals in {lab.state}\n"
    result = lab.cli("undo", "--list", "--format", "text")
    words = "".join(result.out.split())  # a long path takes lines of its own
    assert result.code == 0 and words == f"Nojournalsin{lab.state}."
    assert lab.cli("undo").code == 2


def test_an_older_fix_is_not_undone_over_a_younger_one(lab):
    first, second, older, younger = fixed_twice(lab)
    now = lab.items()
    refused = undo(lab, older)
    assert refused.code == 4 and lab.items() == now
    assert refused.says("nothing was undone", "checkpoint", younger)
    assert f"reshardctl undo {younger} " in refused.err, "the next command undoes it first"
    assert undo(lab, younger).code == 0
    assert kept(lab.items()) == kept(second)
    assert undo(lab, older).code == 0
    assert kept(lab.items()) == kept(first)
    assert set(states(lab).values()) == {"undone"}


def test_a_younger_fix_of_another_table_is_not_named(lab_of):
    lab = lab_of("a-both", TRIM_HORIZON)
    assert lab.fix().code == 0
    (older,) = lab.journals()
    other = lab_of("a-both", TRIM_HORIZON)
    other.fake.clock.advance(60)
    assert other.fix().code == 0
    (younger,) = set(other.journals()) - {older}
    lab.alter("shardId-000000000002", checkpoint={"S": "LATEST"})
    refused = lab.cli("undo", older, "--yes", "--assume-stopped")
    assert refused.code == 4 and younger.stem not in refused.err


@pytest.mark.parametrize("spelled", [
    lambda path: path.stem, lambda path: path.name, lambda path: path.stem[:-6], str,
], ids=["name", "file name", "beginning", "path"])  # fmt: skip
def test_a_journal_is_found_by(lab, spelled):
    before = lab.items()
    assert lab.fix().code == 0
    result = undo(lab, spelled(lab.journal()))
    assert result.code == 0, result.err
    assert kept(lab.items()) == kept(before)


def test_a_beginning_that_two_journals_have(lab):
    *_, older, younger = fixed_twice(lab)
    result = undo(lab, older[:4])
    assert result.code == 2 and result.says("2 journals", older, younger, "more of the name")
    result = undo(lab, "nothing-like-it")
    assert result.code == 2 and result.says("nothing-like-it", str(lab.state), "undo --list")


def test_resume_takes_a_name_too(lab):
    assert lab.fix().code == 0
    result = lab.cli("fix", "--resume", lab.journal().stem[:20], "--assume-stopped", "--yes")
    assert result.code == 2 and result.says("finished and verified")


def test_a_damaged_journal_is_listed_and_hides_no_other(lab):
    *_, older, younger = fixed_twice(lab)
    path = lab.state / f"{older}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"lossless", b"lossles5", 1))
    assert states(lab) == {younger: "applied and verified", older: "unreadable"}
    assert "checksum" in lab.cli("undo", "--list").out
    assert undo(lab, older).code == 2


def test_a_journal_that_is_being_written_says_so(lab):
    from reshardctl.journal import Journal

    assert lab.fix().code == 0
    journal, _ = Journal.open(lab.journal())
    with journal:
        assert "being written now" in lab.cli("undo", "--list", "--format", "text").out
    assert "being written now" not in lab.cli("undo", "--list", "--format", "text").out


def test_a_half_done_fix_is_listed_with_both_ways_out(lab):
    assert lab.fix().code == 0
    whole = lab.journal().read_bytes()
    lines = [line for line in whole.splitlines(keepends=True) if b'"kind":"verified"' not in line]
    lab.journal().write_bytes(b"".join(lines))
    name = lab.journal().stem
    assert states(lab) == {name: "half done"}
    shown = one_line(lab.cli("undo", "--list", "--format", "text").out)
    assert f"undo {name}" in shown and f"fix --resume {name}" in shown


@pytest.mark.parametrize(("kept", "how_far"), [
    (["intent", "landed", "verified"], "fix: 2 of 2 rows written"),
    (["intent", "landed"], "fix: 2 of 2 rows written"),
    (["intent"], "fix: 0 of 2 rows written, and 2 rows begun, of which no answer is recorded"),
    ([], "fix: 0 of 2 rows written"),
])  # fmt: skip
def test_a_journal_that_is_shown_says_how_far_the_fix_got(lab, kept, how_far):
    """Whole lines of a journal, as after a kill."""
    assert lab.fix().code == 0
    lines = lab.journal().read_bytes().splitlines(keepends=True)
    whole = [b'"kind":"header"', *(f'"kind":"{kind}"'.encode() for kind in kept)]
    stays = [line for line in lines if any(kind in line for kind in whole)]
    lab.journal().write_bytes(b"".join(stays))
    name = lab.journal().stem
    assert how_far in lab.cli("undo", "--show", name).out.splitlines()
    assert f"  {how_far}\n" in lab.cli("undo", "--show", name, "--format", "text").out


def test_a_directory_for_the_journal(lab, tmp_path):
    (tmp_path / "kept").mkdir()
    assert lab.fix("--journal", tmp_path / "kept").code == 0
    (path,) = (tmp_path / "kept").iterdir()
    listed = lab.cli("undo", "--list", tmp_path / "kept", "--format", "text").out
    assert f"reshardctl undo {path}" in one_line(listed)
    assert undo(lab, str(path)).code == 0


# the plan's file, where the journal is lost


def planned(lab, tmp_path: Path) -> Path:
    path = tmp_path / "my.plan"
    assert lab.dry("--out", path).code == 1
    return path


def applied(lab, tmp_path: Path) -> Path:
    path = planned(lab, tmp_path)
    assert lab.apply(path).code == 0
    return path


def test_a_plan_whose_journal_is_lost(lab, tmp_path):
    before = lab.items()
    path = applied(lab, tmp_path)
    lab.journal().unlink()
    shown = lab.cli("undo", path, "--dry-run", "--format", "json")
    assert shown.code == 1 and shown.json["of_plan"] is True
    assert shown.json["written_steps"] is None and lab.journals() == []
    VALIDATOR.validate(shown.json)
    result = undo(lab, path, "--format", "json")
    assert result.code == 0, result.err
    assert result.json["journal"] == str(lab.journal()), "it journals itself"
    assert kept(lab.items()) == kept(before)
    assert list(states(lab).values()) == ["undone"]
    again = undo(lab, path)
    assert again.code == 0 and "No write of this plan is in place" in again.out


def test_a_plan_that_was_never_applied(lab, tmp_path):
    path = planned(lab, tmp_path)
    before = lab.items()
    result = undo(lab, path, "--format", "text")
    assert result.code == 0 and result.out.endswith("\nNo write of this plan is in place.\n")
    assert lab.items() == before and lab.wire.writes == [] and lab.journals() == []


def test_a_plan_over_which_somebody_wrote(lab, tmp_path):
    path = applied(lab, tmp_path)
    lab.journal().unlink()
    lab.alter("shardId-000000000002", checkpoint={"S": "LATEST"})
    now = lab.items()
    result = undo(lab, path)
    assert result.code == 4
    assert result.says("neither as before the plan nor as it leaves them", "000000000002",
                       "nothing was undone")  # fmt: skip
    assert lab.items() == now and lab.journals() == []


def test_the_journal_of_a_plan_is_used_where_it_is_not_lost(lab, tmp_path):
    path = applied(lab, tmp_path)
    result = undo(lab, path)
    assert result.code == 0 and lab.journal().stem in result.err
    assert list(states(lab).values()) == ["undone"]


def test_a_plan_of_another_table(lab, tmp_path):
    path = applied(lab, tmp_path)
    lab.journal().unlink()
    lab.remake_table()
    result = undo(lab, path)
    assert result.code == 2 and result.says("another store")


def test_an_edited_plan_undoes_nothing(lab, tmp_path):
    path = applied(lab, tmp_path)
    lab.journal().unlink()
    path.write_text(path.read_text().replace("TRIM_HORIZON", "LATEST"))
    result = undo(lab, path)
    assert result.code == 2 and result.says(str(path), "edited or damaged")


def test_an_undo_by_plan_that_was_cut_short_is_gone_on_with(lab, tmp_path):
    before = lab.items()
    path = applied(lab, tmp_path)
    lab.journal().unlink()
    for operation in ("TransactWriteItems", "DeleteItem"):
        lab.wire.fail(operation, "InternalServerError", 500)
    lab.wire.fail("BatchGetItem", "AccessDeniedException")
    half = undo(lab, path)
    assert half.code == 5 and half.says(f"undo {lab.journal()}")
    lab.wire.faults.clear()
    assert list(states(lab).values()) == ["undo begun"]
    assert undo(lab, path).code == 0, "by the plan again, too"
    assert kept(lab.items()) == kept(before)
    assert list(states(lab).values()) == ["undone"]


# what no undo gives back


def test_a_fix_that_added_a_counter_alone(lab_of):
    lab = lab_of("row-no-counter", TRIM_HORIZON)
    assert lab.fix("--created", lab.created).code == 0
    fixed = lab.items()
    result = lab.cli("undo", lab.journal(), "--yes", "--assume-stopped", "--format", "text")
    assert result.code == 0 and lab.items() == fixed
    assert "is in place" not in result.out
    assert "leaseCounter" in result.out and "never goes back" in result.out


def test_an_undo_asks_whose_the_table_is_after_the_question_too(lab):
    """It was deleted and made again during the watch, with the rows that it had before."""
    before = lab.items()
    assert lab.fix("--created", lab.created).code == 0
    fixed = list(lab.items().values())

    def made_again(_seconds: float) -> None:
        lab.on_sleep.clear()
        lab.remake_table()
        lab.plant(*fixed)

    lab.on_sleep.append(made_again)
    result = lab.cli("undo", lab.journal(), "--yes", "--watch", "60s")
    assert result.code == 2 and "is about another store" in result.err, result
    assert list(lab.items().values()) == fixed and kept(lab.items()) != kept(before)


@pytest.mark.parametrize("form", ["text", "concise", "markdown"])
def test_an_undo_shows_what_it_writes_whether_or_not_it_asks(lab, form):
    """As `fix --yes` shows its plan. A format of one document has the outcome alone."""
    assert lab.fix("--created", lab.created).code == 0
    argv = ("undo", lab.journal(), "--assume-stopped", "--format", form)
    asked = lab.cli(*argv)
    assert asked.code == 4 and "TRIM_HORIZON" in asked.out
    done = lab.cli(*argv, "--yes")
    assert done.code == 0
    without_time = [re.sub(r"read \S+", "", text) for text in (asked.out, done.out)]
    assert without_time[1].startswith(without_time[0]) and len(done.out) > len(asked.out)


def test_one_document_a_command(lab):
    """At a terminal, too: a plan that cannot be confirmed there is not shown first."""
    assert lab.fix().code == 0
    result = lab.cli("undo", lab.journal(), "--assume-stopped", "--format", "json")
    assert result.code == 4 and result.says("--yes")
    assert json.loads(result.out)["exit"] == {"code": 4, "name": "refused"}


@pytest.mark.parametrize("place,wanted", [
    ("", None), ("kept", "kept/"), ("kept/", "kept/"), ("s3://ops/kept", "s3://ops/kept/"),
    ("s3://ops/one.jsonl", "s3://ops/one.jsonl"),
])
def test_the_folder_that_the_configuration_names(place, wanted):
    from reshardctl.commands.configured import folder

    assert folder(place) == wanted


def test_commands_for_a_journal_in_a_folder_with_spaces_can_be_pasted(lab, tmp_path):
    """As the folders of a CI server's jobs have them; each message leads on to the next."""
    folder = tmp_path / "Orders nightly"
    folder.mkdir()
    journal = folder / "a b.jsonl"
    assert lab.fix("--journal", journal).code == 0
    again = lab.cli("fix", "--resume", journal, "--assume-stopped", "--yes")
    assert again.code == 2
    _, _, pasted = again.err.partition("\n")
    looked = shlex.split(pasted, comments=True)  # as a shell reads the whole of it
    assert looked[:2] == ["reshardctl", "inspect"] and lab.cli(*looked[1:]).code == 0
    words = shlex.split(pasted.partition("# or back: ")[2])
    assert words == ["reshardctl", "undo", str(journal)]
    assert lab.cli(*words[1:], "--yes", "--assume-stopped").code == 0
    undone = lab.cli("fix", "--resume", journal, "--assume-stopped", "--yes")
    assert undone.code == 2 and undone.says("undone already", f"fix '{lab.locator}'")
    taken = lab.fix("--journal", journal)
    assert taken.code == 2
    assert shlex.split(taken.err.rpartition("go on with it: ")[2])[-1] == str(journal)


@pytest.mark.parametrize(("error", "code"), [
    ("AccessDeniedException", 4), ("ThrottlingException", 3), ("", 4),
])  # fmt: skip
def test_a_fix_that_was_refused_has_nothing_to_take_back(lab, error, code):
    """Nothing was written (docs/exit-codes.md): what another operator wrote is that one's fix."""
    assert lab.fix().code == 0
    repaired = lab.items()
    assert lab.undo().code == 0
    lab.journal().unlink()
    damaged = lab.items()
    for operation in ("TransactWriteItems", "PutItem", "UpdateItem"):
        if error:
            lab.wire.fail(operation, error)
        else:  # another operator's fix, from another machine
            lab.wire.do(operation, lambda: lab.plant(*repaired.values()))
    result = lab.fix()
    assert result.code == code and result.says("nothing was written")
    assert states(lab) == {lab.journal().stem: "nothing written"}
    undone = lab.undo()
    assert undone.code == 0 and "No write of this fix is in place" in undone.out
    assert lab.items() == (damaged if error else repaired)


def test_an_undo_that_was_refused_is_not_begun(lab):
    """A worker saves between its read and its write: nothing was undone, so it can be undone."""
    before = kept(lab.items())
    assert lab.fix().code == 0
    name = lab.journal().stem
    row = next(item for item in lab.items().values() if item["leaseCounter"] == {"N": "0"})
    moved = {**row, "checkpoint": {"S": "LATEST"}}
    for operation in ("TransactWriteItems", "DeleteItem"):
        lab.wire.do(operation, lambda: lab.plant(moved))
    refused = lab.undo()
    assert refused.code == 4 and refused.says("nothing was written", f"undo {lab.journal()}")
    assert states(lab) == {name: "applied and verified"}
    again = lab.undo()
    assert again.code == 4 and again.says("nothing was undone", row["leaseKey"]["S"])
    lab.plant(row)
    assert lab.undo().code == 0
    assert states(lab) == {name: "undone"} and kept(lab.items()) == before


def test_a_line_of_the_journal_has_its_undo_and_what_is_left_is_to_do(lab):
    done = lab.fix("--created", lab.created)
    (line,) = [line for line in done.out.splitlines() if ": wrote: journal " in line]
    argv = shlex.split(line.partition("; undo: ")[2])
    assert argv == ["reshardctl", "undo", lab.journal().stem]
    assert done.code == 0 and ": left: " not in done.out
