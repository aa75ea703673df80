"""Files and options that give positions: what is none, by its line or entry, and the reason."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from reshardctl.errors import UsageError
from reshardctl.snapshot.positions import cut_in, position_of_option, positions_in, save, text_of

HEAD = "shard,kind,number,sub_number,time,basis,stored\n"
AFTER, NUMBER = "AFTER_SEQUENCE_NUMBER", "4" * 56


@pytest.mark.parametrize(("text", "words"), [
    ("kind\nLATEST\n", ["p.csv: line 1: no column 'shard'"]),
    ("shard,kind,owner\n", ["line 1: no such column: 'owner'", "the columns are shard, kind"]),
    (f"{HEAD}1,LATEST\n", ["line 2: not as many values"]),
    (f"{HEAD}1,LATEST,,,,,,,\n", ["line 2: not as many values"]),
    (f"{HEAD}1,LATEST,,,,GUESSED,\n", ["line 2: no basis is called 'GUESSED'", "stored"]),
    (f"{HEAD},LATEST,,,,,\n", ["line 2: no shard is named"]),
    (f"{HEAD}1,NEWEST,,,,,\n", ["line 2: shard 1: no kind is called 'NEWEST'", "TRIM_HORIZON"]),
    (f"{HEAD}1,{AFTER},,,,,\n", [f"{AFTER} without a sequence number"]),
    (f"{HEAD}1,{AFTER},4.96E+55,,,,\n", ["'4.96E+55' is no sequence number", "spreadsheet"]),
    (f"{HEAD}1,{AFTER},{NUMBER},-1,,,\n", ["'-1' is no sub-sequence number"]),
    (f"{HEAD}1,{AFTER},{NUMBER},{10**9},,,\n", ["is no sub-sequence number"]),
    (f"{HEAD}1,AT_TIMESTAMP,,,2026-09-22T09:14:00,,\n", ["line 2: shard 1: ", "has no zone"]),
    (f"{HEAD}1,LATEST,,,,,\n1,LATEST,,,,,\n", ["line 3: ", "given twice, first in p.csv: line 2"]),
    ("x" * 200_000 + "\n", ["p.csv: not CSV", "131072"]),
    (f'{HEAD}1,"{"x" * 200_000}",,,,,\n', ["p.csv: not CSV", "131072"]),
])  # fmt: skip
def test_a_table_that_has_no_positions(text: str, words: list[str]) -> None:
    assert all(word in refusal(text) for word in words), refusal(text)


@pytest.mark.parametrize(("entry", "more", "words"), [
    ({}, {"schema": "reshardctl/snapshot/1"}, ["p.csv: a 'reshardctl/snapshot/1'"]),
    ({"sub_number": "3"}, {}, ["positions[0].sub_number: not a whole number"]),
    ({"sub_number": True}, {}, ["positions[0].sub_number: not a whole number"]),
    ({"number": 4}, {}, ["positions[0].number: not a string"]),
    ({"number": "4", "sub_number": -1}, {}, ["'-1' is no sub-sequence number"]),
])  # fmt: skip
def test_a_document_that_has_no_positions(entry, more, words):
    empty = dict.fromkeys(HEAD.strip().split(","))
    stream = {"arn": "arn:aws:kinesis:us-east-1:123456789012:stream/orders",
              "created": "2026-11-21T00:00:00Z"}  # fmt: skip
    said = refusal(json.dumps({
        "schema": "reshardctl/positions/1", "taken": "2026-11-21T00:00:00Z", "consumer": "kcl://a",
        "stream": stream, "positions": [{**empty, "shard": "1", "kind": AFTER, **entry}], **more,
    }))
    assert all(word in said for word in words), said


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        positions_in(text, "p.csv")
    return f"{caught.value.what}\n{caught.value.next}"


@pytest.mark.parametrize(("option", "words"), [
    ("1", "not SHARD=POSITION"), ("=LATEST", "not SHARD=POSITION"), ("1=", "not SHARD=POSITION"),
    ("1=banana", "'banana' is no sequence number and no position"),
    ("1=LATESTT", "did you mean LATEST?"), ("1=12x", "'12x' is no sequence number"),
    ("1=LATEST:2026", "'LATEST:2026' is no sequence number"),
    ("1=AT_SEQUENCE_NUMBER", "without a sequence number"),
    (f"1={NUMBER}/x", "'x' is no sub-sequence number"),
    ("1=AT_TIMESTAMP:2026-09-22T09:14:00", "has no zone"),
])  # fmt: skip
def test_an_option_that_is_no_position(option: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        position_of_option(option)
    said = f"{caught.value.what}\n{caught.value.next}"
    assert said.startswith(f"--set {option}: ") and words in said, said


def test_a_file_is_new_and_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    save(HEAD, file)
    assert file.read_text() == HEAD and stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="exists already; nothing was saved"):
        save("", file)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    """UTF-16, as a spreadsheet may save it."""
    file = tmp_path / "p.csv"
    file.write_bytes(HEAD.encode("utf-16"))
    with pytest.raises(UsageError, match="not a text in UTF-8"):
        text_of(file)


def test_a_place_with_a_number_that_it_does_not_have_is_refused():
    """One of both was meant, and nothing shows which."""
    with pytest.raises(UsageError, match="TRIM_HORIZON and a sequence number: one of both") as told:
        cut_in({"kind": "TRIM_HORIZON", "number": "49"}, "entry 1")
    assert "leave number empty" in told.value.next
