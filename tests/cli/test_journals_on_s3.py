"""`fix --journal s3://…`, from a machine that vanishes: another one finishes or undoes it."""

from __future__ import annotations

import itertools

import pytest

from tests.cli.lab import Lab
from tests.cli.test_bad_input import kept
from tests.cli.test_journals import VALIDATOR
from tests.support.lease_server import session
from tests.whole.test_iam import documented

_buckets = itertools.count(100)
@pytest.fixture
def lab(lab, monkeypatch) -> Lab:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", lab.servers.dynamodb)
    lab.bucket = f"ops-{next(_buckets)}"
    s3(lab).create_bucket(Bucket=lab.bucket)
    return lab


def s3(lab):
    return session().client("s3", endpoint_url=lab.servers.dynamodb)


def place(lab) -> str:
    return f"s3://{lab.bucket}/reshardctl"


def keys(lab) -> list[str]:
    found = s3(lab).list_objects_v2(Bucket=lab.bucket).get("Contents", ())
    return [one["Key"] for one in found]


def journal(lab) -> str:
    (key,) = keys(lab)
    return f"s3://{lab.bucket}/{key}"


def undo(lab, name: str, *more: str):
    return lab.cli("undo", name, "--yes", "--assume-stopped", *more)


def test_fixed_and_undone(lab):
    before = lab.items()
    fixed = lab.fix("--journal", place(lab), "--format", "json")
    assert fixed.code == 0, fixed.err
    assert fixed.json["journal"] == journal(lab) and lab.journals() == []
    assert keys(lab)[0].startswith("reshardctl/2026") and keys(lab)[0].endswith(".jsonl")
    dry = lab.cli("undo", journal(lab), "--dry-run", "--format", "text")
    assert dry.code == 1 and f"undo {journal(lab)}" in " ".join(dry.out.replace("\\\n", "").split())
    done = undo(lab, journal(lab))
    assert done.code == 0, done.err
    assert kept(lab.items()) == kept(before) and len(keys(lab)) == 1
    assert undo(lab, journal(lab)).code == 2, "undone already"


def test_a_clock_that_s3_refuses_is_told(lab):
    """Code and status of "Error responses", Amazon S3 API Reference."""
    lab.wire.fail_s3("PutObject", "RequestTimeTooSkewed", 403)
    result = lab.fix("--journal", place(lab))
    assert result.says("this machine's clock", "RequestTimeTooSkewed", "set the clock")
    assert keys(lab) == [] and lab.journals() == []


def test_the_object_itself_may_be_named(lab):
    assert lab.fix("--journal", f"{place(lab)}/mine.jsonl").code == 0
    assert keys(lab) == ["reshardctl/mine.jsonl"]
    assert undo(lab, journal(lab)).code == 0
    again = lab.fix("--journal", f"{place(lab)}/mine.jsonl")
    assert again.code == 2 and again.says("exists already; nothing was written", "fix --resume")


def test_it_is_listed_by_a_prefix_and_shown_with_its_rows(lab):
    assert lab.fix("--journal", place(lab)).code == 0
    for where in (place(lab), f"{place(lab)}/", f"s3://{lab.bucket}"):
        listed = lab.cli("undo", "--list", where, "--format", "json")
        assert listed.code == 0, listed.err
        VALIDATOR.validate(listed.json)
        (one,) = listed.json["journals"]
        assert (one["path"], one["state"]) == (journal(lab), "applied and verified")
    other = lab.cli("undo", "--list", f"s3://{lab.bucket}/other", "--format", "json")
    assert other.json["journals"] == []
    shown = lab.cli("undo", "--show", journal(lab), "--format", "text")
    assert shown.code == 0 and "applied and verified" in shown.out, shown.err
    assert '+checkpoint = {"S": "TRIM_HORIZON"}' in shown.out.splitlines()
    assert f"undo {journal(lab)}" in " ".join(shown.out.replace("\\\n", "").split())


@pytest.mark.parametrize("way", ["resume", "undo"])
def test_the_machine_vanishes_half_way(lab_of, lab, way):
    from tests.cli.test_bad_input import several_steps

    several = several_steps(lab_of)
    before = several.items()
    several.wire.fail_writes("AccessDeniedException", after=1)
    half = several.fix("--journal", place(lab), "--created", several.created)
    assert half.code == 5, half.err
    written = journal(lab)
    assert half.says(f"fix --resume {written}", f"undo {written}")
    several.wire.faults.clear()
    if way == "resume":
        done = several.cli("fix", "--resume", written, "--assume-stopped", "--yes")
        assert done.code == 0, done.err
    assert undo(several, written).code == 0
    assert kept(several.items()) == kept(before)


@pytest.mark.parametrize("code,status,left,words", [
    ("AccessDenied", 403, 4, ("no permission for s3:PutObject", "allow it")),
    ("NoSuchBucket", 404, 2, ("there is no bucket", "--journal FILE")),
    ("SlowDown", 503, 3, ("S3 is busy", "later")),
    ("ExpiredToken", 400, 4, ("credentials",)),
])
def test_without_its_journal_nothing_is_written(lab, monkeypatch, code, status, left, words):
    monkeypatch.setattr("reshardctl.aws.client.ATTEMPTS", 2)
    before = lab.items()
    lab.wire.fail_s3("PutObject", code, status)
    result = lab.fix("--journal", place(lab))
    assert result.code == left, result.err
    assert result.says(*words)
    assert [name for name in lab.wire.writes if name != "PutObject"] == []
    assert lab.items() == before and keys(lab) == []


def test_the_connection_is_lost_in_the_middle(lab):
    """The rows are written; that they were verified cannot be recorded: half done, both ways."""
    lab.wire.fail_s3("PutObject", "InternalError", 500, after=1)
    result = lab.fix("--journal", place(lab))
    assert result.code == 5 and result.says(f"undo {journal(lab)}", "but not verified")
    lab.wire.faults.clear()
    done = lab.cli("fix", "--resume", journal(lab), "--assume-stopped", "--yes")
    assert done.code == 0, done.err


def test_a_prefix_is_no_journal(lab):
    result = undo(lab, f"s3://{lab.bucket}/")
    assert result.code == 2 and result.says("names no journal", "undo --list")


def test_a_plan_whose_journal_is_lost_is_undone_with_one_on_s3(lab, tmp_path):
    before = lab.items()
    path = tmp_path / "my.plan"
    assert lab.dry("--out", path).code == 1
    assert lab.apply(path).code == 0
    lab.journal().unlink()
    done = undo(lab, path, "--journal", place(lab), "--format", "json")
    assert done.code == 0 and done.json["journal"] == journal(lab)
    assert kept(lab.items()) == kept(before) and lab.journals() == []


def test_the_permissions_are_those_of_the_page(lab):
    lab.wire.needed.clear()
    assert lab.fix("--journal", place(lab)).code == 0
    assert lab.cli("undo", "--list", place(lab)).code == 0
    assert undo(lab, journal(lab)).code == 0
    assert {one for one in lab.wire.needed if one.startswith("s3:")} == documented("journal")
