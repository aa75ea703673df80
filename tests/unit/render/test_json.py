"""The documents, against the schema that ships with them."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator, ValidationError

from reshardctl.errors import HalfDone, ReshardError, StalePlan
from reshardctl.exit import Exit
from reshardctl.planning.plan import Ask, NoSafePlan, Nothing, Plan
from reshardctl.planning.policy import POLICIES, POSITIONS, Accept
from reshardctl.render.content.documents import document_of
from reshardctl.render.content.report_json import error_json, exit_json, report_json
from reshardctl.render.context import Context
from reshardctl.report.results import Planned
from tests.unit.render.formats import FORMATS
from tests.unit.render.samples import (
    CASES,
    SHOWN,
    by_name,
    context,
    report_of,
    spoilt,
    with_row,
)

SCHEMA = json.loads(files("reshardctl.render").joinpath("report.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
JSON = FORMATS["json"]


@by_name
def test_every_case_fits_the_schema(name):
    report = report_of(name)
    for shown in (JSON.inspect(report, context(report)), JSON.plan(report, context(report))):
        VALIDATOR.validate(json.loads(shown))


def test_the_cases_have_every_kind_of_decision():
    names = ("a-both", "c", "d2", "foreign-rows", "recreated")
    kinds = {type(report_of(name, "release=2.7.2").decision) for name in names}
    assert kinds == {Plan, Nothing, Ask, NoSafePlan}


def _objects(schema: object):
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            yield schema
        for value in schema.values():
            yield from _objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _objects(value)


def test_our_own_objects_take_no_unknown_member_and_miss_none():
    # scope is there only where --shards, --rule or --not-rule is: without them all is as before.
    # day: of a suppression, where the file gives a day and no time.
    # why: of a shard that is left alone for another reason than its price. forgets: of a plan that
    # the operator's word on a recreated stream makes.
    optional = {"dry_run", "saved", "scope", "day", "why", "forgets"}
    found = list(_objects(SCHEMA))
    assert len(found) >= 20
    for one in found:
        assert one["additionalProperties"] is False
        assert set(one["properties"]) - set(one["required"]) <= optional


@pytest.mark.parametrize("where", [(), ("stream",), ("findings", 0), ("findings", 0, "fix"),
                                   ("decision",), ("decision", "steps", 0, "writes", 0)])
def test_a_stray_or_missing_member_is_seen(where):
    for document in spoilt(report_json(report_of("b"), Exit.FINDINGS), where):
        with pytest.raises(ValidationError):
            VALIDATOR.validate(document)


def test_enumerations_are_the_program_s():
    defs = SCHEMA["$defs"]
    assert set(defs["exit"]["properties"]["code"]["enum"]) == {int(code) for code in Exit}
    names = {exit_json(code)["name"] for code in Exit}
    assert set(defs["exit"]["properties"]["name"]["enum"]) == names
    judgement = defs["judgement"]["properties"]
    assert set(judgement["policy"]["enum"]) == {*POLICIES, POSITIONS.name}


def test_the_exit_code_is_the_caller_s():
    report = report_of("a-both")
    document = json.loads(JSON.inspect(report, context(report, exit=Exit.FINDINGS)))
    assert document["exit"] == {"code": 1, "name": "findings"}
    assert error_json(StalePlan("x"))["exit"] == {"code": 4, "name": "refused"}
    assert error_json(ReshardError("x"))["exit"] == {"code": 3, "name": "unknown"}
    assert error_json(HalfDone("x", "", "/j"))["journal"] == "/j"


def _numbers(value: object):
    if isinstance(value, dict):
        for inner in value.values():
            yield from _numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def test_no_sequence_number_is_a_json_number():
    """A double holds integers up to 2^53 (RFC 8259 §6)."""
    for name in SHOWN:
        document = json.loads(JSON.plan(report_of(name), Context()))
        assert all(abs(number) < 1 << 53 for number in _numbers(document))


def test_stored_places_keep_their_spelling():
    case = CASES["a-both"]
    document = report_json(report_of("a-both"), Exit.OK)
    assert document["positions"] == {
        "shardId-000000000000": "SHARD_END", "shardId-000000000001": case.number_of("s1-1"),
    }
    assert document["taken"] == "2026-11-21T00:25:00Z"
    assert document["stream"]["created"] == "2026-11-21T00:00:00Z"
    assert document["stream"]["account"] == "123456789012"


def test_a_finding_tells_its_fix():
    (finding,) = report_json(report_of("a-both"), Exit.OK)["findings"]
    assert finding["fix"]["mended"] is True
    assert [(c["shard"], c["action"], c["now"], c["after"]) for c in finding["fix"]["changes"]] == [
        ("shardId-000000000003", "create", None, "TRIM_HORIZON"),
        ("shardId-000000000002", "create", None, "TRIM_HORIZON"),
    ]


def test_a_residual_tells_its_flag():
    document = document_of(Planned(report_of("h-long"), True), Context(exit=Exit.FINDINGS)).data()
    assert document["decision"]["kind"] == "nothing"
    assert [r["flag"] for r in document["decision"]["residuals"]] == ["--accept reread=3h30m"]
    assert all(not f["fix"]["mended"] for f in document["findings"])


def test_no_bound_is_null():
    report = report_of("h-long", accept=Accept(reread=float("inf"), disorder=True))
    shown = JSON.plan(report, Context())
    assert json.loads(shown)["accept"] == {
        "skip_seconds": 0.0, "reread_seconds": None, "disorder": True,
    }


def test_documents_are_ascii():
    report = report_of("a-both", items=with_row("\x7f\u202e\x1b", "X"))
    shown = JSON.inspect(report, Context())
    assert shown.isascii()
    assert not any(ord(c) == 127 or (ord(c) < 32 and c != "\n") for c in shown)
