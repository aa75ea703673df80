"""`--shards`, `--rule` and `--not-rule` of inspect and fix (issue 15, item 2)."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

from tests.cli.lab import LATEST, Lab
from tests.unit.render.test_json import VALIDATOR

SPLIT = "a-both-named"
"""Split of 0 into 2 and 3; neither child has a lease (the case file)."""
pytestmark = pytest.mark.lab(SPLIT, LATEST)
MERGE = "full-merge-ended-coparent-lost"
"""Merge of 0 and 1 into 2; the leases of 1 and 2 are gone (the case file)."""
NETWORK = "update-count-coparent-lost"
"""RSH203 on 4, RSH211 on 0 and RSH213 on 6 (the case file's first line)."""
UNREADABLE = "row-unreadable-child-of-a-reader"
"""KCL leaves out the lease of 2; that of its sibling 3 stands."""


def key(number: int) -> str:
    return f"shardId-{number:012}"


def valid(document: dict[str, Any]) -> dict[str, Any]:
    VALIDATOR.validate(document)
    return document


def test_a_selected_shard_is_mended_and_no_other_row_is_touched(lab):
    before = lab.items()
    done = lab.fix("--shards", "2", "--created", lab.created, "--format", "text")
    after = lab.items()
    assert after.keys() - before.keys() == {key(2)}
    assert {k: after[k] for k in before} == before
    assert done.code == 0
    assert lab.inspect("--shards", "3").code == 1
    again = lab.dry("--shards", "2", "--format", "text")
    assert again.code == 0 and "Nothing to write" in again.out
    assert lab.undo().code == 0 and lab.items() == before


def test_what_the_proof_needs_is_added_and_named_with_its_reason(lab_of):
    """The lease of a merge's other parent: KCL takes the child for ready without it."""
    lab: Lab = lab_of(MERGE, LATEST)
    shown = lab.dry("--shards", "2", "--format", "text")
    assert "1 is written too, as a parent of 2:" in " ".join(shown.out.split())
    document = valid(lab.dry("--shards", "2", "--format", "json").json)
    assert [added["shard"] for added in document["scope"]["added"]] == [key(1)]
    assert "parent of" in document["scope"]["added"][0]["why"]
    before = lab.items()
    assert lab.fix("--shards", "2").code == 0
    assert {k for k, row in lab.items().items() if before.get(k) != row} >= {key(1)}


def test_a_part_that_is_unsound_by_itself_is_refused_with_the_next_command(lab_of):
    lab: Lab = lab_of(UNREADABLE, LATEST)
    before = lab.items()
    refused = lab.fix("--shards", "3")
    assert refused.code == 4
    assert refused.says("cannot be mended by itself", "2 (KCL leaves the row out", "--shards 2")
    assert lab.items() == before and lab.journals() == []
    (line,) = [li for li in refused.err.splitlines() if li.strip().startswith("reshardctl fix")]
    assert lab.cli(*shlex.split(line)[1:]).code == 1
    document = json.loads(lab.dry("--shards", "3", "--format", "json").out)
    assert document["scope"]["needs"] == [key(2)] and document["exit"]["name"] == "refused"


@pytest.mark.parametrize(("given", "limit"), [
    (["--shards", "7-9"], "for shards 7-9"),
    (["--shards", "8"], "for shard 8"),
    (["--rule", "RSH202"], "for rule RSH202"),
    (["--shards", "8,9", "--not-rule", "RSH301"], "for shards 8, 9 and all rules but RSH301"),
])
def test_what_is_clean_in_part_is_not_called_clean(lab_of, given, limit):
    lab: Lab = lab_of(NETWORK, LATEST)
    forms = ("text", "concise", "markdown", "github", "junit")
    shown = {form: lab.inspect(*given, "--format", form) for form in forms}
    text = " ".join(shown.pop("text").out.split())
    assert text.endswith(f" OK {limit}: no errors and no warnings; 3 other findings left out.")
    for form, seen in shown.items():
        assert seen.code == 0
        none = f"no findings {limit}; 3 other findings left out"
        assert none in seen.out.replace("No findings", "no findings"), form


def test_a_finding_of_a_part_is_counted_beside_what_is_left_out(lab_of):
    shown = lab_of(NETWORK, LATEST).inspect("--rule", "RSH213", "--format", "github")
    assert shown.code == 1
    assert re.search(r"1 \w+\.  \d fixable\.  2 other findings left out\.", shown.out)


def test_findings_outside_the_scope_do_not_count(lab_of):
    lab: Lab = lab_of(NETWORK, LATEST)
    whole = lab.inspect("--format", "json").json
    part = lab.inspect("--shards", "7-9", "--format", "json")
    assert whole["exit"]["code"] == 1 and part.code == 0
    assert valid(part.json)["findings"] == []
    assert part.json["scope"] == {
        "shards": ["7-9"], "rules": [], "not_rules": [], "left_out": len(whole["findings"]),
        "added": [], "needs": [],
    }
    for form in ("text", "concise", "markdown"):
        out = " ".join(lab.inspect("--shards", "7-9", "--format", form).out.split())
        assert f"; {len(whole['findings'])} other findings left out" in out, form


@pytest.mark.parametrize(("options", "codes"), [
    (["--rule", "RSH203"], {"RSH203"}),
    (["--rule", "child-not-started"], {"RSH203"}),
    (["--rule", "RSH203", "--rule", "RSH211"], {"RSH203", "RSH211"}),
    (["--not-rule", "RSH203"], {"RSH211", "RSH213"}),
    (["--shards", "4"], {"RSH203"}),
    (["--shards", key(0)], {"RSH211"}),
    (["--shards", "0,4", "--not-rule", "RSH203"], {"RSH211"}),
    (["--shards", "0", "--shards", "6", "--rule", "RSH213"], {"RSH213"}),
])
def test_rules_and_shards_are_selected_together(lab_of, options, codes):
    lab: Lab = lab_of(NETWORK, LATEST)
    shown = lab.inspect("--format", "json", "--fail-on", "warning", *options)
    assert shown.codes == codes and shown.code == 1


def test_fix_by_rule_mends_the_shards_of_its_findings(lab_of):
    lab: Lab = lab_of(NETWORK, LATEST)
    before = lab.items()
    assert lab.fix("--rule", "RSH203").code == 0
    changed = {k for k, row in lab.items().items() if before.get(k) != row}
    assert changed == {key(4)}
    assert lab.dry("--rule", "RSH203").code == 0


def test_a_saved_plan_keeps_what_was_selected(lab, tmp_path):
    plan, before = tmp_path / "part.plan", lab.items()
    assert lab.dry("--shards", "2", "--out", plan).code == 1
    saved = json.loads(plan.read_text())
    assert saved["wishes"]["scope"] == {"shards": ["2"], "rules": [], "not_rules": []}
    assert [w["key"] for step in saved["steps"] for w in step["writes"]] == [key(2)]
    applied = lab.apply(plan, "--created", lab.created
    )
    assert applied.code == 0, applied.err
    assert lab.items().keys() - before.keys() == {key(2)}


def test_the_command_that_accepts_a_price_names_what_was_selected(lab):
    shown = lab.dry("--shards", "2", "--format", "text")
    assert "--shards 2" in " ".join(shown.out.split())
    refused = lab.fix("--shards", "2", "--accept", "reread=0")
    assert refused.code in (1, 4)


@pytest.mark.parametrize(("options", "words"), [
    (["--shards", "4711"], ["4711", "no such shard"]),
    (["--shards", "2,4711-4720"], ["4711-4720", "no such shard"]),
    (["--shards", "shardId-000000004711"], ["shardId-000000004711"]),
    (["--shards", "shardId-00000000002"], ["did you mean shardId-000000000002?"]),
    (["--shards", "9-4"], ["'9-4' names no shard", "4-9"]),
    (["--shards", "4,,5"], ["'' names no shard"]),
    (["--rule", "RSH999"], ["--rule", "'RSH999'"]),
    (["--not-rule", "child-not-startd"], ["--not-rule", "did you mean child-not-started"]),
    (["--rule", "RSH501"], ["RSH501", "audit"]),
    (["--rule", "RSH203", "--not-rule", "rsh203"], ["both name RSH203"]),
])
@pytest.mark.parametrize("verb", ["inspect", "fix"])
def test_what_cannot_be_selected_is_wrong_usage(lab, verb, options, words):
    more = ["--dry-run"] if verb == "fix" else []
    wrong = lab.cli(verb, *lab.where, *options, *more)
    assert wrong.code == 2
    assert wrong.says(*words)


def test_a_policy_by_time_moves_the_selected_shards_only(lab):
    document = lab.dry("--shards", "3", "--policy", "latest-at-start", "--format", "json").json
    keys = {w["key"] for step in document["decision"]["steps"] for w in step["writes"]}
    added = {one["shard"] for one in document["scope"]["added"]}
    assert key(3) in keys and keys <= {key(3)} | added


def test_the_range_that_is_printed_can_be_pasted(lab_of):
    """Reports print `2–4` with a dash; what is typed has a hyphen."""
    lab: Lab = lab_of(NETWORK, LATEST)
    for command in (["inspect", "--shards"], ["explain"], ["fix", "--dry-run", "--shards"]):
        verb, *more = command
        typed, pasted = (lab.cli(verb, *lab.where, *more, text) for text in ("2-4", "2–4"))
        assert typed.code in (0, 1) and pasted.code == typed.code, pasted
        assert pasted.out.replace("2–4", "2-4") == typed.out.replace("2–4", "2-4")
