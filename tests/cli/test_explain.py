"""`explain`: shards in detail, with owner, times and neighbours."""

from __future__ import annotations

import json
import shlex
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from tests.cli.lab import LATEST

pytestmark = pytest.mark.lab("a-both", LATEST)

SCHEMA = json.loads(
    files("reshardctl.render").joinpath("explanation.schema.json").read_text("utf-8")
)


def test_one_shard_says_who_owns_it_and_what_is_near_it(lab):
    lines = lab.cli("explain", *lab.where, "0").out.splitlines()
    assert lines[0].startswith("shardId-000000000000   closed")
    assert "owner      w1" in lines and "lag        0s" in lines
    near = [line for line in lines if line.startswith("child ")]
    assert [line.split()[1] for line in near] == ["2:", "3:"]
    assert all("position none" in line and line.endswith("error RSH203") for line in near)
    assert any(line.startswith("next start") for line in lines)


def test_several_shards_in_the_order_asked_for(lab):
    shown = lab.cli("explain", *lab.where, "3,0-1")
    heads = [line.split()[0] for line in shown.out.splitlines() if line.startswith("shardId-")]
    assert shown.code == 0 and [head[-1] for head in heads] == ["3", "0", "1"]


def test_the_document(lab):
    shown = lab.cli("explain", *lab.where, "2,1", "--format", "json").json
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(shown)
    child, other = shown["shards"]
    status = lab.cli("status", *lab.where, "--format", "json", "--shards", "2,1").json["shards"]
    for row, one in zip(status, (child, other), strict=True):
        assert row.items() <= one.items(), "the same members as in a status"
    assert [near["shard"][-1] for near in child["neighbours"]] == ["0"]
    assert child["neighbours"][0]["position"]["stored"] == "SHARD_END"
    assert [finding["code"] for finding in child["findings"]] == ["RSH203"]
    (start,) = child["starts"]
    assert start["fate"]["reads"] is False and start["effects"][0]["harm"] == "stalled"
    (start,) = other["starts"]
    assert start["fate"]["reads"] and start["fate"]["from"]["number"] == other["position"]["number"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_one_of_them_is_unknown(lab, form):
    result = lab.cli("explain", *lab.where, "2,99", "--format", form)
    assert result.code == 2 and "is not listed" in result.err
    if form == "json":
        assert result.json["schema"] == "reshardctl/error/1"


def test_shard_and_consumer_changed_places(lab):
    result = lab.cli("explain", "2", lab.locator, "--stream", lab.stream)
    assert result.code == 2
    again = f"reshardctl explain '{lab.locator}' 2 --stream {lab.stream}"
    assert result.says("the consumer comes first", again)


def test_starts_that_do_the_same_are_told_once(lab_of):
    """No release refills this hole, wherever the application begins."""
    lab = lab_of("a-both", "?release=3.5.1")
    lines = lab.cli("explain", *lab.where, "2").out.splitlines()
    (start,) = [line for line in lines if line.startswith("next start (")]
    assert "initial=LATEST" in start and "initial=TRIM_HORIZON" in start
    assert len([line for line in lines if line.startswith("  never read")]) == 1


def test_a_shard_that_is_not_there_leads_to_the_list_of_them(lab):
    wrong = lab.cli("explain", *lab.where, "99")
    assert wrong.code == 2 and wrong.says("'99' is not listed in orders", "lists the shards")
    pasted, _, _ = wrong.err.splitlines()[1].partition("   # ")
    assert "2" in lab.cli(*shlex.split(pasted)[1:]).out
