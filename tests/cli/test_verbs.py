"""What the reading verbs say, over every case."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reshardctl.diagnosis.rules import RULES
from tests.cli.lab import option_words
from tests.support.case import Case, all_cases
from tests.support.covering import covering, kinds_of

pytestmark = pytest.mark.slow

CASES = [case for case in all_cases("kcl") if case.rows]
NEWEST = "3.5.1"


def options(case) -> str:
    expect = next((e for e in case.expects if NEWEST in e.releases), case.expects[0])
    return option_words(expect.initial[0], expect.releases[-1], case.stream["created"])


def told(case: Case) -> Iterator[object]:
    """What of a case a report has words for: its findings, its writes, its kinds of rows."""
    for expect in case.expects:
        yield from expect.findings
        yield from (expect.fixed.writes.values() if expect.fixed else ())
        yield expect.fixed and expect.fixed.refused, expect.dies
    for row in case.rows:
        checkpoint = row.get("checkpoint", {}).get("S", "")
        yield frozenset(row), "number" if checkpoint.isdigit() else checkpoint[:9]


@pytest.mark.parametrize("case", covering(CASES, told, lambda c: c.name))
def test_explain_has_an_answer_for_every_shard(lab_of, case):
    lab = lab_of(case, options(case))
    rows, shards = {row["leaseKey"]["S"] for row in case.rows}, {s["ShardId"] for s in case.shards}
    named = sorted(rows | shards)
    shown = lab.cli("explain", *lab.where, ",".join(named))
    assert shown.code == 0, shown.err
    *answers, _ = f"\n{shown.out}".split("\nnext start\n")
    assert len(answers) == len(named)
    for shard, answer in zip(named, answers, strict=True):
        assert f"\n{shard}   " in answer


@pytest.mark.parametrize("case", covering(
    CASES, lambda case: {code for e in case.expects for code in e.findings}, lambda c: c.name
))
def test_a_probe_only_ever_settles_doubts(lab_of, case):
    """What is certain without it stays so; it adds no trouble of its own but RSH216, which only
    reads can show."""
    lab = lab_of(case, options(case))
    plain, probed = lab.inspect("--format", "json"), lab.inspect("--format", "json", "--probe")
    assert probed.codes <= plain.codes | {"RSH216"}
    if "RSH216" in probed.codes:
        return
    if plain.json["decision"]["kind"] == "nothing" and not plain.json["decision"]["residuals"]:
        assert probed.json["decision"]["kind"] == "nothing"


@pytest.mark.parametrize("case", ["healthy-roots", "b", "a-both", "h-open", "leader-lock-left"])
def test_fail_on(lab_of, case):
    lab = lab_of(case, "?initial=LATEST&release=3.5.1")
    for level in ("error", "warning", "info", "never"):
        found = lab.inspect("--fail-on", level, "--format", "json")
        ranks = ["info", "warning", "error"]
        at_or_above = ranks[ranks.index(level):] if level != "never" else []
        bad = {f["severity"] for f in found.json["findings"]} & set(at_or_above)
        assert found.code == bool(bad) == found.json["exit"]["code"], level


NEVER = ("--fail-on", "never")


def test_a_dry_run_in_a_script_that_ends_at_any_failure(lab, tmp_path):
    """With `set -e`: something to do is none, and everything else still is."""
    for form in ("json", "text", "concise"):
        assert lab.dry("--format", form).code == 1
        shown = lab.dry("--format", form, *NEVER)
        assert shown.code == 0 and "TRIM_HORIZON" in shown.out
    assert lab.dry("--format", "json", *NEVER).json["exit"] == {"code": 0, "name": "ok"}
    assert lab.dry(*NEVER, "--out", tmp_path / "plan").code == 0
    assert lab.fix("--journal", tmp_path / "j.jsonl").code == 0
    back = ("undo", tmp_path / "j.jsonl", "--dry-run", "--format", "json")
    assert lab.cli(*back).code == 1
    assert lab.cli(*back, *NEVER).code == 0 == lab.cli(*back, *NEVER).json["exit"]["code"]
    lab.wire.fail("Scan", "AccessDeniedException")
    assert lab.dry(*NEVER).code == 3


def test_an_open_question_fails_a_dry_run_all_the_same(lab_of):
    assert lab_of("migration-rolled-back", "").dry(*NEVER).code == 4


def test_what_is_written_is_not_hidden(lab):
    assert lab.fix(*NEVER).says("--fail-on never belongs to --dry-run")
    assert lab.dry("--exit-zero").says("did you mean --fail-on never?")
    assert lab.dry("--fail-on", "error").says("'error' is not")
    assert not lab.journals()


ASKING = [
    case for case in CASES
    if len({tuple(sorted(e.fixed.writes.items())) for e in case.expects if e.fixed}) > 1
]
"""Cases whose repair is another for another application."""


@pytest.mark.parametrize("case", covering(ASKING, kinds_of, lambda case: case.name))
def test_what_no_store_holds_is_asked(lab_of, case):
    """Nothing is written for an application that nobody described; the answer is named."""
    lab = lab_of(case)
    decision = lab.dry("--format", "json").json["decision"]
    if decision["kind"] != "ask":
        assert decision["kind"] in ("plan", "nothing", "no-safe-plan"), decision
        return
    refused = lab.fix("--accept", "skip=1h,reread=all,disorder")
    named = " and ".join(decision["options"])
    assert refused.code == 4 and refused.says(named) and refused.says("to be known first")
    assert lab.wire.writes == []
    if decision["options"] != ["recreated"]:
        for answer in decision["answers"]:
            lab.options = "?" + "&".join(f"{name}={value}" for name, value in answer.items())
            assert lab.dry("--format", "json").json["decision"]["kind"] != "ask"


def test_every_rule_has_a_page(lab_of):
    lab = lab_of("healthy-roots")
    for rule in RULES:
        by_code, by_name = lab.cli("rule", rule.code.lower()), lab.cli("rule", rule.name)
        assert by_code.code == 0 and by_code.out == by_name.out, rule
        assert by_code.out.startswith(f"{rule.code} {rule.name}\n"), rule
