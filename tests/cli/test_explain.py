"""`explain`: shards in detail, with owner, times and neighbours. `rule`: what a code means."""

from __future__ import annotations

import json
import shlex
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from reshardctl.diagnosis.rules import RULES
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
    assert [line for line in lines if line.startswith("next start")] == ["next start"]
    assert len([line for line in lines if line.startswith("  never read")]) == 1


def test_options_are_named_where_they_decide(lab_of):
    """Releases that agree are one start, and a reason is said once."""
    lab = lab_of("full-merge-coparent-lost", "")
    lines = lab.cli("explain", *lab.where, "1").out.splitlines()
    starts = [line for line in lines if line.startswith("next start")]
    assert starts == [
        f"next start (initial={mode})" for mode in ("LATEST", "TRIM_HORIZON", "AT_TIMESTAMP")
    ]
    joined = " ".join(" ".join(lines).split())
    other = " ".join(lab.cli("explain", *lab.where, "2").out.split())
    assert "(initial=TRIM_HORIZON; or initial=AT_TIMESTAMP, release=1.15.3 or 2.7.2" in other
    assert joined.count("re-created at LATEST by the third audit that misses it") == 1


def test_lines_end_between_words_at_80_columns(lab):
    lines = lab.cli("explain", *lab.where, "0-3").out.splitlines()
    assert max(map(len, lines)) <= 80
    keys = [word for line in lines for word in line.split() if word.isdigit() and len(word) > 30]
    whole = [str(2**128 - 1), str(lab.fake.stream("orders").shards[1].records[1].number)]
    assert set(whole) <= set(keys), "nothing to copy is broken"


@pytest.mark.parametrize(("shard", "ends"), [
    ("2", ["reshardctl rule RSH203", "reshardctl fix --dry-run"]), ("1", ["reshardctl status"]),
])  # fmt: skip
def test_it_ends_with_the_next_command(lab, shard, ends, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the plan is saved
    out = lab.cli("explain", *lab.where, shard).out
    *_, last = out.split("\n\n")
    for wanted in ends:
        assert wanted in last
    pasted = last.replace("\\\n", " ").splitlines()[-1]
    assert lab.cli(*shlex.split(pasted)[1:]).code in (0, 1)


def test_a_shard_that_is_not_there_leads_to_the_list_of_them(lab):
    wrong = lab.cli("explain", *lab.where, "99")
    assert wrong.code == 2 and wrong.says("'99' is not listed in orders", "lists the shards")
    pasted, _, _ = wrong.err.splitlines()[1].partition("   # ")
    assert "2" in lab.cli(*shlex.split(pasted)[1:]).out


@pytest.mark.parametrize("columns", [60, 80])
def test_a_rule_wraps_at_words_and_ends_with_the_next_command(lab, columns):
    code, shown = lab.at_terminal("rule", "RSH203", columns=columns)
    lines = [line.rstrip() for line in shown.splitlines()]
    assert code == 0 and max(map(len, lines)) <= columns
    assert lines[-1] == "reshardctl inspect CONSUMER --stream STREAM"
    assert "KCL will not create one, however long it runs or how often" in " ".join(lines)


def test_the_list_of_rules_wraps_at_a_terminal_and_has_one_line_each_in_a_pipe(lab):
    listed = [line for line in lab.cli("rule").out.splitlines() if line.startswith("RSH")]
    assert all(line.endswith(".") for line in listed)
    assert [line.split()[0] for line in listed] == [rule.code for rule in RULES]
    assert lab.cli("rule").out.splitlines()[-1].startswith("reshardctl rule CODE")
    _, shown = lab.at_terminal("rule", columns=80)
    lines = [line.rstrip() for line in shown.splitlines()]
    assert max(map(len, lines)) <= 80
    assert [line[:6] for line in lines if line[:3] == "RSH"] == [line[:6] for line in listed]


def test_a_shard_is_in_the_words_of_status(lab_of):
    """A row of a shard that the stream does not have: the start takes it for ended."""
    lab = lab_of("row-not-born", LATEST)
    lines = lab.cli("explain", *lab.where, "4").out.splitlines()
    assert lines[lines.index("next start") + 1].startswith("  not read: ")
    assert any(line.split()[0] == "4" and "not read" in line
               for line in lab.cli("status", *lab.where).out.splitlines() if line)  # fmt: skip


@pytest.mark.lab("row-not-born", LATEST)
def test_a_shard_that_is_not_listed_is_called_what_status_calls_it(lab):
    """The page of status: unborn is a shard of which there is a position alone."""
    state = {row["shard"]: row["state"] for row in lab.cli(
        "status", *lab.where, "--format", "json"
    ).json["shards"]}
    (unborn,) = [shard for shard, told in state.items() if told == "unborn"]
    shown = lab.cli("explain", *lab.where, unborn).out
    assert shown.startswith(f"{unborn}   unborn: it does not exist yet\n")
