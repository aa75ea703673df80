"""A baseline hides what it knew and nothing else: more shards, graver, another table are news."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from reshardctl.diagnosis.rules import Severity
from reshardctl.diagnosis.rules.base import sift
from reshardctl.errors import UsageError
from reshardctl.exit import Exit
from reshardctl.model import shard_id
from reshardctl.render.content.report_json import report_json
from reshardctl.render.content.roundup import unused
from reshardctl.report.baseline import parsed
from reshardctl.report.report import RepairOptions, Report, make
from tests.support.case import CASES, load
from tests.unit.snapshot.test_file import snapshot_of


@pytest.fixture(scope="module")
def report() -> Report:
    """State b of the runs on the real KCL: a child at LATEST beside an abandoned parent."""
    return make(snapshot_of(load(CASES / "kcl" / "b.toml")), RepairOptions())


@pytest.fixture(scope="module")
def text(report) -> str:
    return json.dumps(report_json(report, Exit.FINDINGS))


def left(report: Report, source: str, findings=None) -> list[str]:
    known = parsed(source, "base.json").of(report)
    sifted = sift(report.findings if findings is None else findings, known, 9e12)
    return [finding.code for finding in sifted.kept]


def test_nothing_is_news_of_itself(report, text):
    assert [f.code for f in report.findings] == ["RSH208", "RSH202"]
    assert left(report, text) == []


def test_less_of_it_is_no_news_and_more_is(report, text):
    one = next(f for f in report.findings if f.code == "RSH208")
    assert left(report, text, [replace(one, shards=one.shards[:1])]) == []
    assert left(report, text, [replace(one, shards=(*one.shards, shard_id(9)))]) == ["RSH208"]


def test_a_shard_more_is_told(report, text):
    one = next(f for f in report.findings if f.code == "RSH208")
    wider = replace(one, shards=(*one.shards, shard_id(9)))
    sifted = sift([wider], parsed(text, "base.json").of(report), 0.0)
    by = next(by for by in sifted.unused if by.rule == "RSH208")
    told = "RSH208 of base.json hides nothing: the finding is also on shard 9 now, which is new"
    assert unused(by, sifted.kept) == told


def test_a_graver_one_is_news(report, text):
    one = next(f for f in report.findings if f.code == "RSH202")
    assert one.severity is Severity.WARNING
    assert left(report, text, [replace(one, severity=Severity.INFO)]) == []
    assert left(report, text, [replace(one, severity=Severity.ERROR)]) == ["RSH202"]


def test_what_is_gone_is_told(report, text):
    known = parsed(text, "base.json").of(report)
    sifted = sift(report.findings[:1], known, 0.0)
    assert [one.rule for one in sifted.unused] == ["RSH202"]


@pytest.mark.parametrize("change", ["store", "stream"])
def test_of_another_place_it_knows_nothing(report, text, change):
    body = json.loads(text)
    body[change]["arn"] += "-other"
    assert left(report, json.dumps(body)) == ["RSH208", "RSH202"]


def test_a_name_changes_nothing(report, text):
    body = json.loads(text)
    body["consumer"]["locator"] = "kcl://renamed"
    assert left(report, json.dumps(body)) == []


def test_of_several_consumers(report, text):
    error = {"report": None, "error": {"what": "throttled"}}
    both = {"schema": "reshardctl/roundup/2",
            "consumers": [error, {"report": json.loads(text), "error": None}]}  # fmt: skip
    assert left(report, json.dumps(both)) == []


@pytest.mark.parametrize("hidden", [7, [7], [{"by": 7}]], ids=str)
def test_what_an_older_one_hid_counts_where_it_can_be_read(report, text, hidden):
    entry = {"report": json.loads(text), "error": None, "suppressed": hidden}
    assert left(report, json.dumps({"schema": "reshardctl/roundup/2", "consumers": [entry]})) == []


@pytest.mark.parametrize(("findings", "words"), [
    ({}, "findings: not a list"), ([7], r"findings\[0\]: not an object"),
])  # fmt: skip
def test_findings_are_a_list_of_objects(text, findings, words):
    body = {**json.loads(text), "findings": findings}
    both = {"schema": "reshardctl/roundup/2", "consumers": [{"report": body}]}
    for source in (body, both):
        with pytest.raises(UsageError, match=rf"^base\.json: .*{words}"):
            parsed(json.dumps(source), "base.json")


WRONG = {
    "{": "not JSON",
    "[]": "not a report",
    '{"schema": "reshardctl/report/9"}': "not a report of this version",
    '{"schema": "reshardctl/fix/1"}': "not a report",
    '{"schema": "reshardctl/report/2"}': "stream: not an object",
    '{"schema": "reshardctl/roundup/2"}': "consumers: not a list",
    '{"schema": "reshardctl/roundup/2", "consumers": [7]}': "consumers[0]: not an object",
}


@pytest.mark.parametrize("source", WRONG)
def test_what_is_no_report(source):
    with pytest.raises(UsageError) as refused:
        parsed(source, "base.json")
    assert refused.value.what.startswith("base.json: ") and WRONG[source] in refused.value.what


@pytest.mark.parametrize("damage", [
    {"severity": "bad"}, {"shards": "0"}, {"shards": [0]}, {"code": None},
], ids=str)  # fmt: skip
def test_a_damaged_finding_is_named(text, damage):
    body = json.loads(text)
    body["findings"][1].update(damage)
    with pytest.raises(UsageError, match=r"base\.json: findings\[1\]\."):
        parsed(json.dumps(body), "base.json")
