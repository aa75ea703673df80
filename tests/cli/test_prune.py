"""`undo --prune`: old journals with which nothing is left to do are deleted, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.journal.file import FileLog
from tests.cli.lab import Lab
from tests.cli.test_journals import VALIDATOR, fixed_twice
from tests.cli.test_journals_on_s3 import keys, place, s3
from tests.cli.test_journals_on_s3 import lab as lab_with_a_bucket

DAY = 86_400
bucket_lab = lab_with_a_bucket


def cut(path: Path, word: str) -> None:
    """Leave of a journal what stands before its first record with this word."""
    lines = path.read_bytes().splitlines(keepends=True)
    found = next(i for i, line in enumerate(lines) if word.encode() in line)
    path.write_bytes(b"".join(lines[:found]))


def aged(lab: Lab, days: float = 31) -> Path:
    """A fix that ended well so many days ago."""
    assert lab.fix().code == 0
    lab.fake.clock.advance(days * DAY)
    return lab.journal()


def prune(lab: Lab, *more: str):
    return lab.cli("undo", "--prune", "--older-than", "30d", *more)


def test_a_journal_of_a_finished_fix_is_deleted_with_consent_only(lab):
    journal = aged(lab)
    dry = prune(lab, "--dry-run", "--format", "json")
    assert dry.code == 1 and [old["name"] for old in dry.json["would_delete"]] == [journal.stem]
    VALIDATOR.validate(dry.json)
    refused = prune(lab)
    assert refused.code == 4 and refused.says("no terminal")
    assert refused.says("reshardctl undo --prune --older-than 30d --yes")
    assert journal.exists()
    done = prune(lab, "--yes", "--format", "json")
    assert done.code == 0 and [old["name"] for old in done.json["deleted"]] == [journal.stem]
    VALIDATOR.validate(done.json)
    assert lab.journals() == [] and lab.state.is_dir()
    assert prune(lab, "--yes").code == 0, "nothing to delete is no error"


@pytest.mark.parametrize(("answer", "code", "left"), [("yes", 0, 0), ("y", 4, 1), ("", 4, 1)])
def test_at_a_terminal_it_lists_and_asks(lab, answer, code, left):
    journal = aged(lab)
    ended, shown = lab.at_terminal(
        "undo", "--prune", "--older-than", "1d", answer=f"{answer}\n"
    )
    assert ended == code and f"would delete: {journal.stem}" in shown
    assert "Only 'yes' is taken" in shown and len(lab.journals()) == left


def test_undone_is_deleted_too(lab):
    assert lab.fix().code == 0 and lab.undo().code == 0
    lab.fake.clock.advance(31 * DAY)
    assert prune(lab, "--yes").code == 0
    assert lab.journals() == []


@pytest.mark.parametrize(("before", "reason"), [
    ('"verified"', "half done"), ('"landed"', "half done"), ("nothing", "younger than 30d"),
])  # fmt: skip
def test_what_may_still_be_needed_is_kept(lab, before, reason):
    journal = aged(lab, 29 if before == "nothing" else 400)
    if before != "nothing":
        cut(journal, before)
    kept = prune(lab, "--yes", "--format", "json")
    assert kept.code == 0 and journal.exists()
    (old,) = kept.json["kept"]
    assert old["why"].startswith(reason) and not old["failed"]
    VALIDATOR.validate(kept.json)


def test_an_undo_that_has_begun_is_kept(lab):
    assert lab.fix().code == 0 and lab.undo().code == 0
    cut(lab.journal(), '"undone"')
    lab.fake.clock.advance(400 * DAY)
    (old,) = prune(lab, "--yes", "--format", "json").json["kept"]
    assert old["why"].startswith("its undo has begun")


def test_a_damaged_one_and_one_in_use_are_kept(lab):
    journal = aged(lab)
    bad = journal.with_name("20200101T000000Z-app-00000000.jsonl")
    bad.write_text("{}\n")
    log = FileLog(journal)
    log.open()
    try:
        kept = prune(lab, "--yes", "--format", "json").json["kept"]
    finally:
        log.close()
    assert {old["name"]: old["why"].partition(",")[0] for old in kept} == {
        journal.stem: "being written now", bad.stem: "unreadable"}
    assert journal.exists() and bad.exists()


@pytest.mark.parametrize(("replaced", "why"), [(True, "was replaced"), (False, "is not there any")])
def test_one_that_cannot_be_deleted_leaves_the_others(lab, monkeypatch, replaced, why):
    """Another process takes the older one's name, or deletes it, between listing and deletion."""
    *_, older, younger = fixed_twice(lab)
    lab.fake.clock.advance(31 * DAY)
    path = lab.state / f"{older}.jsonl"
    opened = FileLog.open

    def disturbed(log: FileLog) -> bytes:
        content = opened(log)
        if log.where == path:
            copy = path.with_suffix(".new")
            copy.write_bytes(content)
            copy.replace(path)
            if not replaced:
                path.unlink()
        return content

    monkeypatch.setattr(FileLog, "open", disturbed)
    done = prune(lab, "--yes", "--format", "json")
    assert done.code == 3 and [old["name"] for old in done.json["deleted"]] == [younger]
    (kept,) = done.json["kept"]
    assert kept["failed"] and why in kept["why"] and path.exists() is replaced


def test_ctrl_c_between_two_deletions_tells_what_is_gone(lab, monkeypatch):
    """Ctrl-C's own message, that nothing was written, would be wrong."""
    fixed_twice(lab)
    lab.fake.clock.advance(31 * DAY)
    delete = FileLog.delete
    deleted: list[str] = []

    def interrupted(log: FileLog) -> None:
        if deleted:
            raise KeyboardInterrupt
        deleted.append(Path(log.where).stem)
        delete(log)

    monkeypatch.setattr(FileLog, "delete", interrupted)
    done = prune(lab, "--yes", "--format", "json")
    assert done.code == 3 and [old["name"] for old in done.json["deleted"]] == deleted
    (kept,) = done.json["kept"]
    assert kept["failed"] and kept["why"] == "cancelled" and len(lab.journals()) == 1
    deleted.append("before the first")
    assert prune(lab, "--yes").code == 130 and len(lab.journals()) == 1


@pytest.mark.parametrize(("words", "said"), [
    (["--prune"], ["--prune needs an age", "--older-than 30d"]),
    (["--prune", "--older-than", "30"], ["'30' is no duration"]),
    (["--older-than", "30d"], ["--older-than belongs to --prune"]),
    (["--prune", "--older-than", "30d", "--list"], ["--prune", "--list"]),
    (["/nowhere", "--prune", "--older-than", "30d"], ["/nowhere is no directory"]),
    (["--prune", "--older-than", "30d", "--format", "sarif"], ["shows no journals"]),
])  # fmt: skip
def test_bad_words_are_named_and_delete_nothing(lab, words, said):
    journal = aged(lab)
    done = lab.cli("undo", *words, "--yes")
    assert done.code == 2 and done.says(*said)
    assert journal.exists()


def test_lines_for_a_pipe(lab):
    journal = aged(lab)
    lines = prune(lab, "--dry-run").out.splitlines()
    assert lines[0].startswith(f"would delete: {journal.stem}")
    assert lines[-1] == f"1 journal to delete. Nothing was deleted, 0 kept in {lab.state}."
    last = json.loads(prune(lab, "--yes", "--format", "jsonl").out)
    assert last["type"] == "pruned" and len(last["deleted"]) == 1


def test_objects_of_a_bucket(bucket_lab):
    lab = bucket_lab
    assert lab.fix("--journal", place(lab)).code == 0
    lab.fake.clock.advance(31 * DAY)
    done = lab.cli("undo", place(lab), "--prune", "--older-than", "30d", "--yes")
    assert done.code == 0 and keys(lab) == [], done.err


def test_an_object_that_changed_since_it_was_read_is_kept(bucket_lab):
    lab = bucket_lab
    assert lab.fix("--journal", place(lab)).code == 0
    lab.fake.clock.advance(31 * DAY)
    (key,) = keys(lab)
    put = s3(lab).put_object
    lab.wire.do("DeleteObject", lambda: put(Bucket=lab.bucket, Key=key, Body=b"another's\n"))
    done = lab.cli("undo", place(lab), "--prune", "--older-than", "30d", "--yes")
    assert done.code == 3 and keys(lab) == [key]
    assert "in use by another reshardctl" in done.out


@pytest.mark.parametrize(("code", "status", "said"), [
    ("AccessDenied", 403, "s3:DeleteObject"), ("SlowDown", 503, "S3 is busy"),
])  # fmt: skip
def test_s3_does_not_let_it_delete(bucket_lab, code, status, said):
    lab = bucket_lab
    assert lab.fix("--journal", place(lab)).code == 0
    lab.fake.clock.advance(31 * DAY)
    lab.wire.fail_s3("DeleteObject", code, status)
    done = lab.cli("undo", place(lab), "--prune", "--older-than", "30d", "--yes")
    assert done.code == 3 and len(keys(lab)) == 1
    assert "cannot delete journal" in done.out and said in done.out
