"""Every format of an audit says what the facts say, and no text of a sink breaks out of it."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from reshardctl.auditing.facts import Bucket
from reshardctl.diagnosis.rules import RULES, SINKS
from reshardctl.exit import Exit
from reshardctl.model import shard_id
from reshardctl.model.times import instant
from reshardctl.render.charts import bars, span
from reshardctl.render.content.subjects import of_audit
from reshardctl.render.context import Context
from reshardctl.render.formats.sarif import fingerprint
from reshardctl.render.html import audit_page, show
from reshardctl.report.audit import AuditReport, judge_sink
from tests.unit.auditing.hand_made_facts import CREATED
from tests.unit.render.audit.samples import ALL, CONTEXT, alone, clean, everything, hostile, large
from tests.unit.render.formats import AUDITS

SCHEMA = json.loads(files("reshardctl.render").joinpath("report.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
CODES = {rule.code for rule in SINKS}

every_report = pytest.mark.parametrize("made", ALL.values(), ids=list(ALL))
every_format = pytest.mark.parametrize("form", AUDITS)


def test_the_sample_has_every_finding():
    assert {f.code for f in everything().findings} == CODES


@every_format
@every_report
def test_nothing_steers_a_terminal(form, made):
    shown = AUDITS[form](made(), CONTEXT)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)


@every_format
def test_in_ascii_where_that_is_asked_for(form):
    assert AUDITS[form](hostile(), Context(ascii=True)).isascii()


@every_format
def test_every_format_names_every_finding(form):
    shown = AUDITS[form](everything(), CONTEXT)
    assert all(code in shown for code in CODES), CODES - set(re.findall(r"RSH\d+", shown))


@every_report
def test_json_fits_the_schema(made):
    document = json.loads(AUDITS["json"](made(), CONTEXT))
    VALIDATOR.validate(document)
    document["stray"] = 1
    assert not VALIDATOR.is_valid(document)


def test_json_has_the_numbers():
    document = json.loads(AUDITS["json"](everything(), Context(exit=Exit.FINDINGS)))
    assert document["exit"] == {"code": 1, "name": "findings"}
    assert document["records"] == {"read": 60, "missing": 23, "doubled": 2, "extra": 3}
    one = next(s for s in document["shards"] if s["shard"] == "shardId-000000000001")
    assert (one["sink"]["rows"], one["compared"]["missing"]) == (10, 3)
    assert one["compared"]["first_missing"]["arrival"] == instant(CREATED + 300)
    assert document["keys"]["most_missing"][0] == {"key": "key-7", "missing": 12}


def test_what_was_not_looked_at_is_null_and_not_zero():
    document = json.loads(AUDITS["json"](alone(), CONTEXT))
    assert document["records"]["missing"] is None and document["against_stream"] is False
    assert all(one["compared"] is None for one in document["shards"])
    assert all(one["sink"]["disordered"] is None for one in document["shards"])


def test_jsonl_has_a_line_for_each():
    lines = [json.loads(line) for line in AUDITS["jsonl"](everything(), CONTEXT).splitlines()]
    kinds = [line["type"] for line in lines]
    assert kinds[0] == "header" and kinds[-1] == "summary"
    assert kinds.count("finding") == len(everything().findings)
    assert (kinds.count("shard"), kinds.count("bucket"), kinds.count("unusable")) == (4, 3, 2)
    assert {line["schema"] for line in lines} == {"reshardctl/lines/2"}


def test_text_fits_the_width():
    for width in (60, 80, 100):
        shown = AUDITS["text"](everything(), Context(("s",), width=width))
        assert max(map(len, shown.splitlines())) <= width


def test_text_says_what_was_not_looked_at():
    shown = " ".join(AUDITS["text"](alone(), CONTEXT).split())
    assert "No findings; the sink was not compared with the stream." in shown
    assert "whether records are missing was not looked at" in shown
    assert "reshardctl audit /lake/orders --stream orders" in shown
    assert "No findings." in AUDITS["text"](clean(), CONTEXT)


@pytest.mark.parametrize("form", ["text", "markdown", "github", "junit"])
def test_what_to_do_next_can_be_typed(form):
    """Quoted for a shell: the question mark of a locator would be a pattern."""
    shown = " ".join(unescape(AUDITS[form](everything(), CONTEXT)).replace("\\\n", " ").split())
    assert "reshardctl rebuild 'kcl://app?initial=LATEST' --from /lake/orders" in shown
    assert shown.index("reshardctl rebuild") < shown.index("reshardctl rule RSH501")


def test_what_to_do_next_is_on_the_page_and_in_json():
    page = unescape(audit_page(everything()))
    assert "reshardctl rebuild 'kcl://app?initial=LATEST' --from" in page
    document = json.loads(AUDITS["json"](everything(), CONTEXT))
    assert document["next"][1] == {
        "command": ["reshardctl", "rule", "RSH501"], "why": "what this means",
    }


def test_sarif_results_are_the_findings():
    (run,) = json.loads(AUDITS["sarif"](everything(), CONTEXT))["runs"]
    found = everything().findings
    assert [one["ruleId"] for one in run["results"]] == [f.code for f in found]
    for one in run["results"]:
        assert RULES[one["ruleIndex"]].code == one["ruleId"]
    prints = [fingerprint(of_audit(everything()), f) for f in found]
    assert [next(iter(one["partialFingerprints"].values())) for one in run["results"]] == prints
    missing = next(one for one in run["results"] if one["ruleId"] == "RSH501")
    assert missing["properties"]["lossFrom"] == instant(CREATED + 110 + 86_400)


def suite_of(report: AuditReport) -> ElementTree.Element:
    (suite,) = ElementTree.fromstring(AUDITS["junit"](report, CONTEXT))  # noqa: S314 - ours
    return suite


def test_junit_skips_what_was_not_looked_at():
    suite = suite_of(alone())
    skipped = {case.get("name", "")[:6] for case in suite if case.find("skipped") is not None}
    assert skipped == {"RSH501", "RSH503", "RSH506", "RSH507", "RSH508"}
    suite = suite_of(everything())
    failed = {case.get("name", "")[:6] for case in suite if case.find("failure") is not None}
    assert failed == CODES - {"RSH508"}
    assert suite.get("tests") == str(len(SINKS))


def test_github_has_an_annotation_a_finding():
    lines = AUDITS["github"](hostile(), CONTEXT).splitlines()
    assert len(lines) == len(hostile().findings) + 1
    assert all(re.match(r"::(error|warning|notice) title=", line) for line in lines)


def test_concise_is_a_line_a_finding_or_that_there_is_none():
    assert AUDITS["concise"](clean(), CONTEXT) == f"{clean().facts.sink}: no findings\n"
    lines = AUDITS["concise"](hostile(), CONTEXT).splitlines()
    assert len(lines) == len(hostile().findings)


class Tags(HTMLParser):
    """Elements that are never closed, and all that a page names from elsewhere."""

    VOID = frozenset({"meta", "line", "rect", "polyline"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@every_report
def test_the_page_is_whole_and_has_nothing_from_elsewhere(made):
    shown = audit_page(made())
    tags = Tags()
    tags.feed(shown)
    assert tags.open == [] and tags.links == []
    assert "script" not in tags.seen and shown.isascii()
    assert "default-src 'none'" in shown


def test_the_page_shows_what_is_missing_where():
    shown = audit_page(everything())
    assert re.search(r'<path class="missing[^"]*" data-shard="shardId-000000000001"', shown)
    assert re.search(r'<path class="extra[^"]*" data-shard="shardId-000000000000"', shown)
    assert 'class="gone"' in shown
    assert "data-shard" in audit_page(clean()) and not re.search(
        r'<path class="missing[^"]*" data-shard', audit_page(clean()))


def test_the_map_is_darker_where_more_is_missing():
    """3 of 63 records of shard 1 are missing in that stretch, all of shard 3's in another."""
    shown = audit_page(everything())
    assert re.search(r'<path class="missing few" data-shard="shardId-000000000001"', shown)
    assert re.search(r'<path class="missing" data-shard="shardId-000000000003"', shown)
    assert "3: 20 of 20 records missing, arrived 2026-" in shown


def test_what_is_missing_and_doubled_at_once_is_both_in_sight():
    report = everything()
    both = Bucket(shard_id(1), CREATED + 300, 100.0, 60, 3, 3)
    shown = audit_page(judge_sink(replace(report.facts, buckets=(both,)), report.lineage))
    tops = [
        re.search(rf'<path class="{kind} few" data-shard[^>]* d="M[^ ]+ ([0-9.]+)h', shown)
        for kind in ("missing", "extra")
    ]
    lost, twice = (float(found[1]) for found in tops if found is not None)
    assert twice > lost


def test_a_page_of_a_thousand_shards_is_bounded():
    shown = audit_page(large(1100))
    assert len(shown) < 4_000_000 and shown.count("<tr>") <= 1001


def test_bars_keep_the_sums():
    buckets = everything().facts.buckets
    ends = span(buckets)
    assert ends == (CREATED + 20, CREATED + 400)
    assert ends is not None
    made = bars(buckets, ends)
    assert [round(sum(one), 6) for one in (made.rows, made.missing, made.extra)] == [150, 3, 3]


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    report = everything()
    shown = show(report.facts, report.lineage, report.stored)
    tags = Tags()
    frame = shown._repr_html_()
    tags.feed(frame)
    assert tags.seen == {"iframe"} and tags.open == []
    (found,) = re.findall(r'srcdoc="([^"]*)"', frame)
    assert "RSH501" in unescape(found) and "<script" not in unescape(found)
    assert "RSH501" in str(shown)
