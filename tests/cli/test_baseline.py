"""`inspect --baseline`: the job fails over news only."""

from __future__ import annotations

import json

import pytest

from tests.cli.lab import Lab

KNOWN = "?initial=LATEST&release=3.5.1"


@pytest.fixture
def lab(lab_of) -> Lab:
    return lab_of("b", KNOWN)


@pytest.fixture
def baseline(lab, tmp_path):
    file = tmp_path / "base.json"
    assert lab.cli("inspect", *lab.where, "--format", "json", "-o", file).code == 1
    return file


def test_what_was_known_does_not_count(lab, baseline):
    result = lab.cli("inspect", *lab.where, "--baseline", baseline, "--format", "text")
    assert result.code == 0, result.err
    assert "2 suppressed" in result.out and "RSH208" in result.out
    assert str(baseline) in "".join(result.out.split())  # a long path is broken at the margin
    assert lab.wire.writes == []


def test_news_counts(lab, baseline):
    body = json.loads(baseline.read_text())
    body["findings"] = [f for f in body["findings"] if f["code"] != "RSH208"]
    baseline.write_text(json.dumps(body))
    result = lab.cli("inspect", *lab.where, "--baseline", baseline, "--format", "json")
    assert result.code == 1
    (entry,) = result.json["consumers"]
    assert [f["code"] for f in entry["report"]["findings"]] == ["RSH208"]
    assert [one["finding"]["code"] for one in entry["suppressed"]] == ["RSH202"]
    assert entry["suppressed"][0]["by"]["until"] is None


def test_a_baseline_of_a_baseline(lab, baseline, tmp_path):
    """What an older baseline knew, a newer one made under it knows."""
    again = tmp_path / "again.json"
    done = lab.cli("inspect", *lab.where, "--baseline", baseline, "--format", "json", "-o", again)
    assert done.code == 0
    result = lab.cli("inspect", *lab.where, "--baseline", again)
    assert result.code == 0, result.out


@pytest.mark.parametrize(("text", "says"), [(None, "No such file"), ("{}", "not a report")])
def test_a_file_that_is_none(lab, tmp_path, text, says):
    file = tmp_path / "x.json"
    if text is not None:
        file.write_text(text)
    result = lab.cli("inspect", *lab.where, "--baseline", file)
    assert result.code == 2 and result.says(str(file), says, "reshardctl inspect --format json")
    assert lab.wire.calls == []
