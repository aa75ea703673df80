"""A program that reads --format json finds one document, whatever happened; files get it too.

`reshardctl/render/report.schema.json` says what an error looks like; restic ends with such an
object as well (its `exit_error`, "Scripting" in its manual).
"""

from __future__ import annotations

import json
from xml.etree.ElementTree import fromstring

import pytest

from tests.unit.render.test_json import VALIDATOR


def told(result, form: str = "json") -> dict:
    """The one error on stdout, which says what stderr says and the code of the process."""
    (text,) = result.out.splitlines() if form == "jsonl" else (result.out,)
    document = json.loads(text)
    if form == "json":
        VALIDATOR.validate(document)
        assert document["schema"] == "reshardctl/error/1"
    else:
        assert (document["schema"], document["type"]) == ("reshardctl/lines/2", "error")
    assert document["exit"]["code"] == result.code
    return document


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_what_could_not_be_looked_at(lab, form):
    lab.wire.fail("Scan", "AccessDeniedException")
    result = lab.inspect("--format", form)
    assert result.code == 3 and told(result, form)["exit"]["name"] == "unknown"
    assert result.says(told(result, form)["what"])


def test_a_refusal_a_usage_error_and_a_half_done_fix(lab):
    refused = lab.cli("fix", *lab.where, "--format", "json")
    assert refused.code == 4 and "--yes" in told(refused)["next"]
    for argv in (["--watch", "soon"], ["--no-such-flag"], ["--policy", "whatever"]):
        result = lab.cli("fix", *lab.where, "--format=json", *argv)
        assert result.code == 2 and told(result)["exit"]["name"] == "usage"
    count = [name for _, name in lab.wire.calls].count("Scan")
    assert lab.fix("--format", "json").code == 0
    reads = [name for _, name in lab.wire.calls].count("Scan") - count
    assert lab.undo().code == 0
    lab.journal().unlink()
    lab.wire.fail("Scan", "ExpiredTokenException", after=reads - 1)
    half = lab.fix("--format", "json")
    assert half.code == 5 and told(half)["journal"] == str(lab.journal())


def test_an_undo_of_a_journal_that_is_not_there(lab):
    result = lab.cli("undo", "/no/such.jsonl", "--format", "json")
    assert result.code == 2 and "/no/such.jsonl" in told(result)["what"]


def test_a_defect_of_ours(lab, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret of the store")

    monkeypatch.setattr("reshardctl.render.content.documents.report_json", broken)
    result = lab.inspect("--format", "json")
    assert result.code == 3 and "secret" not in told(result)["what"]


def test_a_report_that_went_out_is_the_one_document(lab_of, tmp_path):
    """An open question is a report with exit code 4 and an error on stderr: not two documents."""
    lab = lab_of("migration-rolled-back", "")
    result = lab.dry("--format", "json")
    assert result.code == 4 and result.err
    VALIDATOR.validate(result.json)
    assert result.json["decision"]["kind"] == "ask" and result.json["exit"]["code"] == 4
    lines = [json.loads(line) for line in lab.dry("--format", "jsonl").out.splitlines()]
    assert [line["type"] for line in lines].count("error") == 0
    path = tmp_path / "asked.json"
    assert lab.dry("--format", f"json={path}").code == 4
    assert json.loads(path.read_text())["decision"]["kind"] == "ask", "no error over it"


def test_people_are_told_once(lab):
    lab.wire.fail("Scan", "AccessDeniedException")
    for form in ("text", "concise", "markdown"):
        result = lab.inspect("--format", form)
        assert result.code == 3 and result.out == "" and result.err


def test_what_github_junit_and_sarif_are_told(lab, tmp_path):
    lab.wire.fail("Scan", "AccessDeniedException")
    assert lab.inspect("--format", "github").out.startswith("::error title=reshardctl%3A error::")
    junit, sarif = tmp_path / "o.xml", tmp_path / "o.sarif"
    result = lab.inspect("--format", f"junit={junit}", "--format", f"sarif={sarif}")
    assert result.code == 3 and result.out == ""
    assert fromstring(junit.read_bytes()).get("errors") == "1"  # noqa: S314 - our own
    (run,) = json.loads(sarif.read_text())["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False


def test_no_report_of_an_earlier_run_stays(lab, tmp_path):
    path = tmp_path / "report.json"
    assert lab.inspect("--format", "json", "--output", path).code == 1
    assert json.loads(path.read_text())["schema"] == "reshardctl/report/2"
    lab.wire.fail("Scan", "AccessDeniedException")
    assert lab.inspect("--format", "json", "--output", path).code == 3
    assert json.loads(path.read_text())["exit"] == {"code": 3, "name": "unknown"}


def test_a_picture_or_a_snapshot_is_not_put_over(lab, tmp_path):
    """Other verbs' --output takes no report."""
    path = tmp_path / "picture.svg"
    path.write_text("mine")
    lab.wire.fail("ListShards", "AccessDeniedException")
    result = lab.cli("graph", lab.stream, "--format", "svg", "--output", path)
    assert result.code != 0 and path.read_text() == "mine"


def test_a_search_that_could_not_look(lab):
    lab.wire.fail("ListTables", "AccessDeniedException")
    lab.wire.fail("ListShards", "AccessDeniedException")
    result = lab.cli("discover", lab.stream, "--format", "json")
    assert result.code == 3, result.err
    assert json.loads(result.out)["schema"] in ("reshardctl/error/1", "reshardctl/discover/1")
