"""Consent: a plan is shown whatever it costs, and what it costs is asked about where it is written.

DESIGN.md section 4, "Policies and consent".
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.lab import LATEST, TRIM_HORIZON, Lab, Result, bare
from tests.support.case import CASES, Case, load

INCIDENT = CASES / "kcl" / "a-both-named-long.toml"
AGE = 601 + 14 * 3600 + 120
"""Seconds since the stream was made; it was resharded 601 seconds after that."""


def of_age(folder: Path) -> Case:
    """The incident, found fourteen hours later."""
    text = INCIDENT.read_text().replace("now = 12000", f"now = {AGE}")
    assert f"now = {AGE}" in text
    path = folder / INCIDENT.name
    path.write_text(text)
    return load(path)


def flat(text: str) -> str:
    return " ".join(bare(text).split())


def printed(result: Result) -> list[str]:
    """The words of the command that a refusal ends with."""
    (line,) = [li for li in result.err.splitlines() if li.strip().startswith("reshardctl fix ")]
    return shlex.split(line)[1:]


@pytest.fixture
def lab(lab_of, tmp_path) -> Lab:
    return lab_of(of_age(tmp_path), LATEST)


def test_an_inspection_calls_it_fixable_and_prints_its_cost(lab):
    shown = lab.inspect("--format", "text")
    assert "1 fixable" in shown.out and "left alone" not in flat(shown.out)
    assert re.search(r"TRIM_HORIZON; re-reads up to 14h", shown.out)
    assert lab.inspect("--format", "json").json["counts"]["fixable"] == 1


def test_the_plan_is_shown_with_its_price(lab):
    shown = lab.dry("--format", "text")
    assert shown.code == 1
    assert "Plan: 2 to create" in flat(shown.out)
    price = r"Skips nothing, re-reads up to 14h\w* of records a shard \(up to 1d[45]h in all\)"
    assert re.search(price, flat(shown.out))
    assert "left alone" not in flat(shown.out)
    decision = lab.dry("--format", "json").json["decision"]
    assert decision["consent"] == "reread=14h30m" and decision["residuals"] == []
    assert {e["shard"][-1] for e in decision["price"]} == {"2", "3"}


@pytest.mark.parametrize("form", ["text", "concise", "json", "markdown"])
def test_yes_alone_does_not_take_it(lab, form):
    before = lab.items()
    refused = lab.fix("--created", lab.created, "--format", form)
    assert refused.code == 4
    assert refused.says("re-reads up to 14h", "--yes", "--accept reread=14h30m")
    assert lab.items() == before and lab.wire.writes == [] and lab.journals() == []


def test_the_printed_command_takes_it_as_it_is(lab):
    """Everything that was given stands in it, so nothing is to be added."""
    given = ("--created", lab.created, "--watch", "45s", "--journal", lab.state / "own.jsonl")
    refused = lab.cli("fix", *lab.where, "--yes", "--assume-stopped", *given)
    argv = printed(refused)
    for word in ("--created", lab.created, "--watch", "45s", "--assume-stopped", "--yes"):
        assert word in argv
    done = lab.cli(*argv)
    assert done.code == 0, done.err
    assert (lab.state / "own.jsonl").exists()
    assert lab.inspect().code == 0


def test_without_yes_and_without_a_terminal_nothing_is_written(lab):
    refused = lab.cli("fix", *lab.where, "--assume-stopped", "--created", lab.created)
    assert refused.code == 4 and refused.says("terminal", "re-reads up to 14h")
    assert lab.wire.writes == []
    done = lab.cli(*printed(refused))
    assert done.code == 0, done.err


def test_what_costs_an_hour_is_taken_by_yes(lab_of):
    lab = lab_of("a-both", LATEST)
    assert lab.fix("--created", lab.created).code == 0


def test_disorder_is_never_taken_by_yes_alone(lab_of):
    """4 and 5 would run beside what is left of 0, their grandparent."""
    lab = lab_of(disordered(), LATEST)
    shown = lab.inspect("--format", "text")
    assert "left alone" not in flat(shown.out) and "0 fixable" not in shown.out
    refused = lab.fix("--created", lab.created)
    assert refused.code == 4 and refused.says("out of order", "disorder")
    assert lab.wire.writes == []
    argv = printed(refused)
    assert "disorder" in argv[argv.index("--accept") + 1].split(",")
    assert lab.cli(*argv).code == 0


def disordered() -> Case:
    return load(CASES / "kcl" / "chain-ended-early.toml")


def test_a_named_limit_leaves_alone_what_costs_more(lab):
    limited = ("--accept", "reread=2h", "--created", lab.created)
    shown = lab.dry(*limited, "--format", "text")
    assert "2 is left alone, because its fix re-reads up to 14h" in flat(shown.out)
    assert "--accept reread=14h30m" in flat(shown.out)
    done = lab.fix(*limited)
    assert done.code == 1 and lab.wire.writes == []
    looked = lab.inspect("--accept", "reread=2h", "--format", "text")
    assert "0 fixable" in looked.out and "--accept reread=14h30m" in flat(looked.out)


def test_no_reread_at_all_is_a_limit_too(lab):
    shown = lab.dry("--accept", "reread=0", "--format", "text")
    assert "2 is left alone" in flat(shown.out) and "--accept reread=14h30m" in flat(shown.out)


@pytest.fixture
def plan(lab, tmp_path):
    path = tmp_path / "app.plan"
    assert lab.dry("--created", lab.created, "--out", path).code == 1
    return path


def test_a_saved_plan_is_asked_about_in_the_same_way(lab, plan):
    """What was given stands in the command that takes it, so only the price is to be added."""
    given = ("--created", lab.created)
    refused = lab.apply(plan, *given)
    assert refused.code == 4 and refused.says("re-reads up to 14h", "--accept reread=14h30m")
    argv = printed(refused)
    assert argv[:5] == ["fix", "--plan", str(plan), *given]
    assert lab.wire.writes == []
    assert lab.cli(*argv).code == 0


@pytest.mark.parametrize("source", ["--plan", "--resume"])
@pytest.mark.parametrize(("given", "taken"), [
    ([], "reread=14h30m"),
    (["--accept", "reread=15h"], "reread=15h"),
    (["--accept", "reread=2h"], "reread=14h30m"),
])
def test_a_saved_plan_needs_an_answer(lab, plan, source, given, taken):
    """The command that is printed accepts what this one does, and what is lacking."""
    if source == "--resume":
        half_done(lab, "--created", lab.created, "--accept", "reread=15h")
    written, file = len(lab.wire.writes), plan if source == "--plan" else lab.journal()
    refused = lab.cli("fix", source, file, "--assume-stopped", *given)
    assert refused.code == 4 and refused.says("terminal", f"--accept {taken}")
    assert len(lab.wire.writes) == written
    done = lab.cli(*printed(refused))
    assert done.code == 0, done.err


@pytest.mark.parametrize(("asked", "taken"), [
    (["--accept", "reread=15h"], "reread=14h30m"),
    (["--policy", "latest"], "skip=30m"),
    (["--policy", "latest", "--accept", "skip=all"], "skip=30m"),
    (["--policy", "latest-at-start"], "skip=14h30m"),
])
def test_a_saved_plan_carries_no_consent(lab, tmp_path, asked, taken):
    """Somebody else may have made it: what its own command accepted or asked for is not said by
    the one that writes it. DESIGN.md section 4: a saved plan is asked about in the same way."""
    path = tmp_path / "app.plan"
    assert lab.dry("--created", lab.created, *asked, "--out", path).code == 1
    apply = ("fix", "--plan", path, "--yes", "--assume-stopped")
    refused = lab.cli(*apply)
    assert refused.code == 4 and refused.says("--yes alone", f"--accept {taken}"), refused.err
    assert lab.wire.writes == [] and lab.journals() == []
    if taken.startswith("skip"):
        less = lab.cli(*apply, "--accept", "skip=10m,reread=15h,disorder")
        assert less.code == 4 and less.says("costs more than --accept takes")
    assert lab.cli(*printed(refused)).code in (0, 1)
    assert lab.wire.writes != []


def half_done(lab: Lab, *argv: str) -> None:
    """Let a fix end without knowing what it has written, which is nothing."""
    lab.wire.fail_writes("InternalServerError", 500)
    lab.wire.fail("BatchGetItem", "AccessDeniedException")
    half = lab.fix(*argv)
    assert half.code == 5, half
    lab.wire.faults.clear()


def beginning_anew(lab_of, asked: str) -> tuple[Lab, list[str]]:
    """A lab whose repair needs words of the operator, and these words."""
    if asked == "--bootstrap":
        lab = lab_of("a-both", LATEST, items=[])
        return lab, ["--bootstrap"]
    lab = lab_of("recreated" if asked == "--recreated" else "b", TRIM_HORIZON)
    for key, row in lab.items().items():
        if asked == "--created" and row["checkpoint"]["S"].isdigit():
            lab.alter(key, checkpoint={"S": "TRIM_HORIZON"})
    return lab, [asked, lab.created]


WORDS = ("--bootstrap", "--recreated", "--created")


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("asked", WORDS)
def test_a_saved_plan_carries_no_word_of_its_maker(lab_of, tmp_path, asked):
    """To begin anew, and whose the positions are, is said by the command that writes.

    DESIGN.md section 7 rule 3: `--yes` does not replace it, and no output prints the time.
    """
    lab, words = beginning_anew(lab_of, asked)
    path = tmp_path / "app.plan"
    assert lab.dry(*words, "--out", path).code == 1
    apply = ("fix", "--plan", path, "--yes", "--assume-stopped", "--accept", "reread=all")
    calls = len(lab.wire.calls)
    refused = lab.cli(*apply)
    assert refused.code == 4 and refused.says(asked), refused
    assert lab.wire.writes == [] and lab.journals() == []
    assert lab.created not in refused.out + refused.err
    if asked != "--created":
        assert len(lab.wire.calls) == calls
    if asked == "--bootstrap":
        assert lab.cli(*printed(refused)).code == 0
        return
    wrong = lab.cli(*apply, asked, "2020-01-01T00:00:00Z")
    assert wrong.code == 4 and wrong.says(asked, "was not created at the time")
    assert lab.wire.writes == []
    assert lab.cli(*apply, *words).code == 0
    assert lab.cli("undo", path, "--yes", "--assume-stopped").code == 0
    assert "undone" in lab.cli("undo", "--list").out, "the journal of this plan"


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("asked", WORDS)
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_command_that_a_dry_run_prints_has_what_it_was_given(lab_of, tmp_path, asked, form):
    """Whoever typed it is told how to go on; the plan's file carries none of it."""
    lab, words = beginning_anew(lab_of, asked)
    shown = lab.dry(*words, "--out", tmp_path / "app.plan", "--format", form)
    commands = re.sub(r"\\\n *", "", shown.out).splitlines()
    (line,) = [li for li in commands if li.strip().startswith("reshardctl fix --plan")]
    argv = shlex.split(line)[1:]
    done = lab.cli(*argv, "--yes", "--assume-stopped", "--accept", "reread=all")
    assert done.code == 0, done


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("asked", WORDS[1:])
def test_the_creation_time_is_taken_as_version_1_of_the_aws_cli_prints_it(lab_of, asked):
    lab, _ = beginning_anew(lab_of, asked)
    printed = str(float(lab.fake.stream("orders").created))  # 1795219200.0
    assert lab.fix(asked, printed, "--accept", "reread=all").code == 0


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("asked", WORDS)
def test_nor_does_the_rest_of_a_fix(lab_of, asked):
    lab, words = beginning_anew(lab_of, asked)
    argv = [*words, "--accept", "reread=all"]
    half_done(lab, *argv)
    apply: tuple[str | Path, ...] = (
        "fix", "--resume", lab.journal(), "--yes", "--assume-stopped", *argv[-2:]
    )
    rows = lab.items()
    refused = lab.cli(*apply)
    assert refused.code == 4 and asked in refused.err and lab.items() == rows
    assert lab.created not in refused.out + refused.err
    if asked != "--bootstrap":
        wrong = lab.cli(*apply, asked, "2020-01-01T00:00:00Z")
        assert wrong.code == 4 and "was not created at the time" in wrong.err
        assert lab.cli(*apply, *words).code == 0 and lab.items() != rows


def test_undo_asks_nothing_of_the_price(lab):
    """It puts back what was there: `--yes` is enough, whatever the fix had cost."""
    before = lab.items()
    assert lab.fix("--created", lab.created, "--accept", "reread=15h").code == 0
    assert lab.undo().code == 0
    assert lab.items() == before


@pytest.mark.parametrize(("answer", "code"), [("yes\n", 0), ("no\n", 4)])
def test_one_question_at_a_terminal_and_it_names_the_price(lab, answer, code):
    before = lab.items()
    argv = ["fix", *lab.where, "--created", lab.created, "--assume-stopped"]
    got, shown = lab.at_terminal(*argv, answer=answer)
    assert got == code, shown
    assert (lab.items() != before) == (code == 0)
    text = flat(shown)
    assert text.count("Only 'yes' is taken for a yes") == 1
    price = r"re-reads up to 14h\w* of records a shard \(up to 1d[45]h in all\)"
    assert re.search(rf"{price}\. Write this\?", text)


def test_one_question_for_a_saved_plan(lab, plan):
    got, shown = lab.at_terminal("fix", "--plan", plan, "--assume-stopped", answer="yes\n")
    assert got == 0, shown
    assert flat(shown).count("Only 'yes' is taken for a yes") == 1
    assert re.search(
        r"Start 2, 3 at TRIM_HORIZON\. Skips nothing, re-reads up to 14h\w* of records a shard "
        r"\(up to 1d[45]h in all\)\. Write this to kcl://\S+, stream orders\?", flat(shown)
    )
    assert "RSH203" not in shown, "the plan was shown when it was saved"


@pytest.mark.parametrize("more", [["-v"], ["--format", "text"]])
def test_a_saved_plan_is_shown_again_where_that_is_asked_for(lab, plan, more):
    got, shown = lab.at_terminal("fix", "--plan", plan, "--assume-stopped", *more, answer="no\n")
    assert got == 4 and "RSH203" in shown, shown


@pytest.mark.parametrize("more", [["-o", "plan.txt"], ["--format", "json"]])
def test_nobody_is_asked_about_a_plan_that_the_terminal_does_not_show(
    lab, tmp_path, monkeypatch, more
):
    monkeypatch.chdir(tmp_path)
    argv = ["fix", *lab.where, "--created", lab.created, "--assume-stopped", *more]
    got, shown = lab.at_terminal(*argv)
    assert got == 4 and "nothing here shows the plan that would be confirmed" in flat(shown), shown
    assert "Only 'yes'" not in shown


def test_nobody_is_asked_about_another_plan_than_the_saved_one(lab, plan):
    """A row that the plan rests on is gone: what could be planned now is not what the file says."""
    before = lab.items()
    lab.plant({**before["shardId-000000000001"], "leaseKey": {"S": "shardId-000000000002"}})
    got, shown = lab.at_terminal("fix", "--plan", plan, "--assume-stopped")
    assert got == 4 and "the plan is stale" in flat(shown), shown
    assert "Only 'yes'" not in shown and "Plan:" not in shown


def test_a_plan_from_elsewhere_is_shown_before_the_question(
    lab, plan, tmp_path, monkeypatch
):
    monkeypatch.setenv("RESHARDCTL_STATE_DIR", str(tmp_path / "of-somebody-else"))
    argv = ["fix", "--plan", plan, "--assume-stopped"]
    got, shown = lab.at_terminal(*argv, answer="yes\nno\n")
    assert got == 4 and "was not made here" in flat(shown) and "RSH203" in shown, shown


def test_an_undo_asks_what_it_does(lab):
    done = lab.fix("--created", lab.created, "--accept", "reread=15h", "--assume-stopped")
    assert done.code == 0, done.err
    got, shown = lab.at_terminal("undo", str(lab.journal()), "--assume-stopped", answer="no\n")
    assert got == 4, shown
    assert "Delete the row of 2, 3? Only 'yes' is taken for a yes" in flat(shown)
    assert "Write this?" not in shown


def test_a_loss_that_is_accepted_is_not_said_to_be_beyond_repair(lab_of):
    """Without `--accept` there is a plan for it (tests/cases/kcl/full-split-unseen.toml)."""
    lab = lab_of(load(CASES / "kcl" / "full-split-unseen.toml"))
    assert lab.dry("--format", "json").json["decision"]["kind"] == "plan"
    shown = flat(lab.dry("--accept", "skip=all,reread=all", "--format", "text").out)
    assert "What the next start skips is within --accept; without that it may be mended" in shown
    assert "No write improves" not in shown


@pytest.mark.parametrize("how", [
    ["--live"], ["--assume-stopped"], ["--watch", "45s"], ["--journal", "orders.jsonl"],
], ids=str)
def test_a_dry_run_names_the_command_that_writes_in_the_same_way(lab, tmp_path, how):
    for saved in ([], ["--out", str(tmp_path / "orders.plan")]):
        told = lab.dry(*how, *saved, "--format", "text").out
        said = told[told.index("Nothing was written."):].replace("\\\n", "").splitlines()
        words = next(shlex.split(line) for line in said if "  reshardctl fix" in line)
        assert words[-len(how):] == how
