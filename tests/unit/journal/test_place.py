"""What an operator may write for a journal's place, and what a listing makes of hostile names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reshardctl.errors import UsageError
from reshardctl.journal import S3Object, name_of, s3_object
from reshardctl.journal.listing import State, entries, files
from reshardctl.journal.log import placed
from reshardctl.render.content.documents import JournalsDocument
from reshardctl.render.content.journals import Listing
from reshardctl.render.context import Context
from reshardctl.render.formats import Format, write
from tests.contracts.memory_store import MemoryStore
from tests.support.plans import journal_of, plan_of


@pytest.mark.parametrize(("text", "bucket", "key"), [
    ("s3://ops-bucket", "ops-bucket", "20-app.jsonl"),
    ("s3://ops-bucket/", "ops-bucket", "20-app.jsonl"),
    ("s3://ops.bucket/a/b", "ops.bucket", "a/b/20-app.jsonl"),
    ("s3://ops-bucket/a/b/", "ops-bucket", "a/b/20-app.jsonl"),
    ("s3://ops-bucket/a/mine.jsonl", "ops-bucket", "a/mine.jsonl"),
    ("s3://ops-bucket/after a split/é/", "ops-bucket", "after a split/é/20-app.jsonl"),
])  # fmt: skip
def test_where_a_journal_on_s3_goes(text: str, bucket: str, key: str) -> None:
    found = placed(text, "20-app")
    assert found == S3Object(bucket, key)
    assert s3_object(str(found)) == found


@pytest.mark.parametrize("text", [
    "s3:/one-slash/x", "s3://ab/too-short", "s3://Upper/x", "s3://under_score/x", "s3:///x",
    "S3://ops-bucket/x", "s3://-dash/x", "s3://ops-bucket/\x1b[31m", "s3://ops-bucket/\x7f",
    f"s3://ops-bucket/{'x' * 999}",
])  # fmt: skip
def test_what_is_no_place_on_s3(text: str) -> None:
    """Bucket names: 3 to 63 of lower case, digits, dots and hyphens (Amazon S3 User Guide,
    "General purpose bucket naming rules")."""
    with pytest.raises(UsageError, match="S3"):
        s3_object(text)


def test_names() -> None:
    assert name_of(Path("/s/20-app.jsonl")) == name_of(S3Object("b", "p/20-app.jsonl")) == "20-app"
    assert name_of(S3Object("b", "mine")) == "mine"


def shelf(tmp_path: Path, name: str) -> Listing:
    plan = plan_of([1, 1])
    journal_of(plan, MemoryStore(plan.rows), tmp_path / f"{name}.jsonl").close()
    return Listing(str(tmp_path), entries(files(tmp_path)), True)


@pytest.mark.parametrize("form", [f for f in Format if JournalsDocument.has(f.view)])
@pytest.mark.parametrize("name", ["\x1b[31mred", "a\nb", "\u202egnp", "plain"])
def test_no_name_of_a_file_steers_a_terminal(tmp_path: Path, form: str, name: str) -> None:
    shown = write(shelf(tmp_path, name), form, Context(width=60))
    assert all(line.isprintable() for line in shown.split("\n")), ascii(shown)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_list_fits_its_terminal(tmp_path: Path, width: int) -> None:
    listing = shelf(tmp_path, "20261121T215037Z-app-03f2de83")
    shown = write(listing, "text", Context(width=width, ascii=True))
    assert shown.isascii()
    free = [line for line in shown.split("\n") if not line.startswith("  ")]
    assert max(map(len, free)) <= max(width, len(str(tmp_path)))


def test_what_is_no_journal_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "app.plan").write_text("{}")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "mine.jsonl").write_text("not one of ours\n")
    (one,) = entries(files(tmp_path))
    assert (one.state, one.records) == (State.UNREADABLE, None)
    assert "is no journal" in one.why
    assert files(tmp_path / "none") == []
    (shown,) = write(Listing("p", [one], True), "jsonl", Context()).splitlines()
    assert json.loads(shown)["state"] == "unreadable"


def test_a_journal_without_intents_is_not_to_be_undone(tmp_path: Path) -> None:
    assert "reshardctl undo" not in write(shelf(tmp_path, "j"), "text", Context())
