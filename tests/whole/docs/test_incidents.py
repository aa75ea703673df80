"""Every incident of docs/evidence.md: its case shows what the page says of it."""

from __future__ import annotations

import re
import tomllib

import pytest

from scripts.pages import incidents
from tests.support.case import CASES, INCIDENTS, all_cases, load

KEYS = {"thread", "system", "what", "case", "values", "found", "rules", "why"}
LISTED = incidents.incidents()
APART = ("watches/", "listings/", "sinks/")
"""Cases of other forms; their names begin with the rule that they show."""


@pytest.mark.parametrize("entry", LISTED, ids=lambda entry: entry["thread"])
def test_the_case_of_an_incident_shows_its_rules(entry):
    assert set(entry) <= KEYS
    assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", entry["thread"])
    assert entry["found"] in ("yes", "partly", "no")
    case = entry.get("case", "")
    if not case:
        assert "values" not in entry
        return
    path = CASES / f"{case}.toml"
    text = path.read_text(encoding="utf-8")
    if case.startswith(APART):
        assert [case.rpartition("/")[2][:6].upper()] == entry["rules"]
        return
    shown = set().union(*(e.findings | (e.infos or set()) for e in load(path).expects))
    assert set(entry["rules"]) <= shown, shown
    if entry.get("values"):
        assert shown == set(entry["rules"]), "all that such a case shows is the incident's"
        assert entry["thread"] in tomllib.loads(text)["source"]


def test_there_are_twenty_and_each_is_there_once():
    threads = [entry["thread"] for entry in LISTED]
    assert len(threads) == len(set(threads)) >= 20


def test_every_case_with_values_is_of_an_incident():
    named = {entry["case"] for entry in LISTED if entry.get("values")}
    assert named == {f"{INCIDENTS}/{case.name}" for case in all_cases(INCIDENTS)}
    assert len(named) >= 5


def test_a_case_has_the_sequence_numbers_of_its_thread():
    """The split of Graylog2/graylog-plugin-aws#102, as `aws kinesis describe-stream` showed it."""
    shards = {shard["ShardId"]: shard for shard in load(
        CASES / INCIDENTS / "graylog-102.toml").shards}
    parent, child = shards["shardId-000000000000"], shards["shardId-000000000001"]
    assert parent["SequenceNumberRange"]["EndingSequenceNumber"] == (
        "49590734542050927318432283276999739773632144383749914626")
    assert child["SequenceNumberRange"]["StartingSequenceNumber"] == (
        "49591682063617123246853875533725686181781598824321515538")
    assert child["HashKeyRange"]["EndingHashKey"] == "170141183460469231731687303715884105727"
