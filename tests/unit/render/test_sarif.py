"""SARIF logs against the parts of the standard that they use.

LOG below is written from the text of SARIF 2.1.0 (OASIS), section by section, and closed: a
member that it does not name fails. Whole logs of every case were also validated against the
standard's own JSON schema (sarif-schema-2.1.0.json, errata 01), in November 2026.
"""

from __future__ import annotations

import json
import re
from functools import cache

import pytest
from jsonschema import Draft202012Validator

from reshardctl.diagnosis.rules import RULES, Severity
from reshardctl.errors import StalePlan
from reshardctl.exit import Exit
from reshardctl.render.content.subjects import of_report
from reshardctl.render.context import Context
from reshardctl.render.formats.sarif import fingerprint
from reshardctl.report.results import Fixed, Undoing
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import (
    CASES,
    SHOWN,
    by_name,
    context,
    report_of,
    spoilt,
    then,
    with_row,
)

SARIF = FORMATS["sarif"]
OPTIONS = "initial=LATEST&release=3.5.1"


def obj(required: str = "", **properties: object) -> dict:
    """A closed object; `required` names members that must be there."""
    return {
        "type": "object", "properties": properties, "required": required.split(),
        "additionalProperties": False,
    }


TEXT = {"type": "string", "minLength": 1}
MESSAGE = obj("text", text=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
BAG = {"type": "object"}
LOGICAL = obj("", name=TEXT, fullyQualifiedName=TEXT, kind=TEXT)
LOCATION = obj("", logicalLocations={"type": "array", "items": LOGICAL, "minItems": 1})
RULE = obj(
    "id", id=TEXT, name=TEXT, shortDescription=MESSAGE, fullDescription=MESSAGE, help=MESSAGE
)
RESULT = obj(
    "message ruleId",
    ruleId=TEXT, ruleIndex={"type": "integer", "minimum": 0}, level=LEVEL, message=MESSAGE,
    locations={"type": "array", "items": LOCATION},
    partialFingerprints={"type": "object", "additionalProperties": TEXT}, properties=BAG,
)
INVOCATION = obj(
    "executionSuccessful",
    executionSuccessful={"type": "boolean"}, exitCode={"type": "integer"},
    exitCodeDescription=TEXT, endTimeUtc=TIME,
    toolExecutionNotifications={
        "type": "array", "items": obj("message", level=LEVEL, message=MESSAGE)
    },
)
TOOL = obj(
    "driver",
    driver=obj("name", name=TEXT, version=TEXT,
               rules={"type": "array", "items": RULE, "uniqueItems": True}),
)
RUN = obj(
    "tool",
    tool=TOOL,
    automationDetails=obj("", id=TEXT),
    invocations={"type": "array", "items": INVOCATION},
    results={"type": "array", "items": RESULT},
)
LOG = obj(
    "version runs",
    **{"$schema": {"type": "string", "pattern": "^https://.*/sarif-schema-2.1.0.json$"}},
    version={"const": "2.1.0"}, runs={"type": "array", "items": RUN},
)
"""3.13 sarifLog, 3.14 run, 3.17 runAutomationDetails, 3.18 tool, 3.19 toolComponent,
3.49 reportingDescriptor, 3.20 invocation, 3.58 notification, 3.27 result, 3.11 message,
3.28 location, 3.33 logicalLocation, 3.9 date/time properties."""
VALIDATOR = Draft202012Validator(LOG)


@cache
def check_tool(tool: str) -> None:
    """Once for all logs that have it: every rule with its page is in it."""
    Draft202012Validator(TOOL).validate(json.loads(tool))


def read(shown: str) -> dict:
    """The one run of a valid log."""
    assert shown.isascii() and shown.endswith("}\n")
    log = json.loads(shown)
    (run,) = log["runs"]
    check_tool(json.dumps(run["tool"]))
    VALIDATOR.validate({**log, "runs": [{**run, "tool": {"driver": {"name": "checked above"}}}]})
    return run


def inspected(name: str, options: str = "", **wanted) -> dict:
    report = report_of(name, options, **wanted)
    return read(SARIF.inspect(report, context(report, exit=Exit.FINDINGS)))


@by_name
def test_a_result_for_every_finding(name):
    report = report_of(name)
    run = inspected(name)
    assert [(r["ruleId"], r["level"]) for r in run["results"]] == [
        (f.code, "note" if f.severity is Severity.INFO else str(f.severity))
        for f in report.findings
    ]
    rules = run["tool"]["driver"]["rules"]
    for result, finding in zip(run["results"], report.findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]  # 3.27.6
        places = [one["logicalLocations"][0] for one in result["locations"]]
        named = [p["name"] for p in places if p["kind"] == "shard"]
        assert named == list(finding.shards) and places
        assert len({p["fullyQualifiedName"] for p in places}) == len(places)
    assert run["invocations"][0]["executionSuccessful"] is True
    assert run["invocations"][0]["exitCode"] == 1


def test_the_rules_are_documented():
    rules = inspected("healthy-roots")["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    for rule in rules:
        assert re.search(r"(?m)^Not offered$", rule["help"]["text"])
        assert rule["shortDescription"]["text"].endswith(".")


def test_the_same_finding_keeps_its_fingerprint():
    """Neither options, nor wording, nor the order of rows make another finding of it."""
    turned = list(reversed(CASES["a-both"].items()))
    shown = [
        inspected("a-both", OPTIONS), inspected("a-both", "initial=LATEST&release=2.7.2"),
        inspected("a-both", OPTIONS, items=turned), inspected("a-both", policy="latest-at-start"),
    ]
    assert len({run["results"][0]["partialFingerprints"]["reshardctl/v1"] for run in shown}) == 1


def test_other_findings_have_other_fingerprints():
    for name in SHOWN:
        subject = of_report(report_of(name))
        prints = [fingerprint(subject, finding) for finding in subject.findings]
        assert len(set(prints)) == len(prints)
    one, other = (of_report(report_of(name, OPTIONS)) for name in ("a-both", "b"))
    assert fingerprint(one, one.findings[0]) != fingerprint(other, other.findings[0])


def test_a_fix_and_an_undo_show_the_rows_as_they_are():
    report = report_of("a-both", OPTIONS)
    after, steps = then(report), report.decision.steps
    found = {
        "plan": SARIF.plan(report, context(report)),
        "fixed": SARIF.fixed(Fixed(report, after, steps, "/j", 1), context(report)),
        "dry": SARIF.undo(Undoing(after, report, steps, "/j"), context(report)),
        "undone": SARIF.undo(Undoing(after, report, steps, "/j", 1), context(report)),
        "emptied": SARIF.undo(Undoing(after, None, steps, "/j", 1), context(report)),
    }
    counts = {view: len(read(shown)["results"]) for view, shown in found.items()}
    assert counts == {"plan": 1, "fixed": 0, "dry": 0, "undone": 1, "emptied": 0}


def test_a_run_that_failed_has_no_results_rather_than_none():
    """3.14.23: an empty array says that the tool looked and found nothing."""
    run = read(SARIF.error(StalePlan("it moved", "plan again"), Context()))
    assert "results" not in run
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 4)
    (note,) = invocation["toolExecutionNotifications"]
    assert (note["level"], note["message"]["text"]) == ("error", "it moved; plan again")


def test_texts_of_rows_are_harmless_when_they_are_read():
    """JSON escapes would come back as control characters in whatever shows the message."""
    text = "\x1b[31m\u202e\nx"
    run = inspected("a-both", OPTIONS, items=with_row("k", text))
    messages = [result["message"]["text"] for result in run["results"]]
    assert any("\\x1b[31m\\u202e\\nx" in message for message in messages)
    assert all(message.isprintable() for message in messages)


@pytest.mark.parametrize("where", [(), ("runs", 0), ("runs", 0, "results", 0),
                                   ("runs", 0, "tool", "driver"), ("runs", 0, "invocations", 0)])
def test_a_stray_member_is_seen(where):
    report = report_of("a-both", OPTIONS)
    stray, _ = spoilt(json.loads(SARIF.inspect(report, context(report))), where)
    assert not VALIDATOR.is_valid(stray)
