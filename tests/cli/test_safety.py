"""What no command may do: write unasked, write to a running consumer, show a secret."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import stat
from pathlib import Path

import pytest
import typer

from reshardctl.cli.app import application
from reshardctl.execution.watch import LOOK
from tests.cli.lab import SECRETS, TRIM_HORIZON, Lab

READING = [
    ("inspect",), ("inspect", "--probe"), ("inspect", "--wait", "1m"), ("inspect", "--read-only"),
    ("fix", "--dry-run"), ("fix", "--dry-run", "--probe"), ("fix", "--dry-run", "--yes"),
    ("fix", "--dry-run", "--policy", "latest-at-start"), ("graph", "--probe"),
    ("explain", "0", "--probe"), ("explain", "shardId-000000000001", "--probe"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "words"), [
    *zip(itertools.cycle(("a-both", "b", "d2", "h-open", "recreated")), READING, strict=False),
])  # fmt: skip
def test_reading_writes_nothing(lab_of, case, words):
    lab = lab_of(case, TRIM_HORIZON)
    before = lab.items()
    lab.fake.calls.clear()
    verb, *flags = words
    assert lab.cli(verb, *lab.where, *flags).code in (0, 1, 4)
    assert lab.wire.calls and lab.wire.writes == []
    assert lab.fake.mutating_calls == []
    assert lab.items() == before
    assert lab.journals() == []


def test_rule_and_help_call_nothing(lab_of):
    lab = lab_of("a-both")
    for argv in (["rule"], ["rule", "RSH203"], ["rule", "child-not-started"], ["--help"],
                  ["fix", "--help"], ["--version"]):  # fmt: skip
        assert lab.cli(*argv).code == 0
    assert lab.wire.calls == []


def test_a_dry_undo_writes_nothing_and_no_command_changes_the_stream(lab):
    lab.fake.calls.clear()
    assert lab.fix("--probe").code == 0
    fixed = lab.items()
    lab.wire.calls.clear()
    assert lab.cli("undo", lab.journal(), "--dry-run").code == 1
    assert lab.wire.writes == [] and lab.items() == fixed
    assert lab.undo().code == 0
    assert lab.fake.mutating_calls == []


def owned(lab) -> str:
    return next(k for k, v in lab.items().items() if "leaseOwner" in v)


def renewing(lab, key: str):
    """Ask of a worker that holds the lease: its counter grows while we wait."""

    def renew(_seconds: float) -> None:
        counter = int(lab.items()[key]["leaseCounter"]["N"])
        lab.alter(key, leaseCounter={"N": str(counter + 1)})

    return renew


@pytest.mark.parametrize("position", ["SHARD_END", "a number"])
def test_a_running_consumer_is_refused(lab, position):
    """Its renewals, of finished rows too (runs on KCL 2.7.2 and 3.5.1)."""
    wanted = [k for k, v in lab.items().items()
              if (v["checkpoint"]["S"] == "SHARD_END") == (position == "SHARD_END")]  # fmt: skip
    key = wanted[0]
    lab.alter(key, leaseOwner={"S": "w1"})
    lab.on_sleep.append(renewing(lab, key))
    refused = lab.cli("fix", *lab.where, "--yes")
    assert refused.code == 4 and refused.says("is running", key, "stop every process")
    assert lab.wire.writes == [] and lab.journals() == []
    assert sum(lab.slept) == LOOK, "at the first look, not at the end of the watch"


@pytest.mark.parametrize("moment", [1, 6, 29, 30])
def test_the_watch_lasts_until_its_end(lab, moment):
    """A worker that renews once in 30 s is seen whenever that is (failoverTimeMillis 90 s)."""
    lab.alter(key := next(iter(lab.items())), leaseOwner={"S": "w1"})
    renew = renewing(lab, key)
    lab.on_sleep.append(lambda seconds: renew(seconds) if sum(lab.slept) == moment else None)
    refused = lab.cli("fix", *lab.where, "--yes")
    assert refused.code == 4 and refused.says("is running", key)
    assert sum(lab.slept) == -(-moment // LOOK) * LOOK
    assert lab.wire.writes == []


def test_a_still_consumer_is_watched_for_the_whole_time(lab):
    """And its silence is journaled with what it excludes."""
    lab.alter(next(iter(lab.items())), leaseOwner={"S": "w1"})
    assert lab.cli("fix", *lab.where, "--yes", "--watch", "40s").code == 0
    assert sum(lab.slept) == 40
    said = header(lab.journal())["notes"]["stopped"]
    assert "40 s" in said and "up to 120 s" in said


def ownerless(lab_of) -> Lab:
    """No row has an owner: all workers are stopped, or one started a moment ago."""
    lab = lab_of("a-both", TRIM_HORIZON)
    for key in lab.items():
        lab.alter(key, leaseOwner=None)
    return lab


def test_rows_without_an_owner_are_watched_as_long(lab_of):
    lab = ownerless(lab_of)
    for more in ("1s", "29s"):
        refused = lab.cli("fix", *lab.where, "--yes", "--watch", more)
        assert refused.code == 2 and lab.slept == [] and lab.wire.writes == []
        assert refused.says("may own no row for that long", "--watch 30s")
    done = lab.cli("fix", *lab.where, "--yes")
    assert done.code == 0 and sum(lab.slept) == 30
    said = header(lab.journal())["notes"]["stopped"]
    assert said.startswith("no row has an owner, and in 30 s none got one")


def test_a_worker_that_takes_a_row_during_the_watch_is_running(lab_of):
    """One that has just started owns nothing until its first round of taking leases."""
    lab = ownerless(lab_of)
    key = next(iter(lab.items()))
    lab.on_sleep.append(
        lambda _: lab.alter(key, leaseOwner={"S": "w9"}) if sum(lab.slept) == 20 else None
    )
    refused = lab.cli("fix", *lab.where, "--yes")
    assert refused.code == 4 and refused.says("is running", "1 of 1 watched", key)
    assert lab.wire.writes == [] and lab.journals() == []


def test_a_running_consumer_stops_an_undo_too(lab):
    assert lab.fix().code == 0
    key = owned(lab)
    fixed = lab.items()
    lab.wire.calls.clear()
    lab.on_sleep.append(renewing(lab, key))
    refused = lab.cli("undo", lab.journal(), "--yes", "--watch", "90s")
    assert refused.code == 4 and refused.says("is running")
    assert lab.wire.writes == [] and sum(lab.slept) == LOOK
    assert {k for k, v in lab.items().items() if v != fixed[k]} == {key}


def test_a_leader_that_moves_is_a_sign_of_life(lab):
    lab.plant({"leaseKey": {"S": "Leader"}, "entityType": {"S": "LEADER"},
               "recordVersionNumber": {"S": "a"}})  # fmt: skip
    lab.on_sleep.append(lambda _s: lab.alter("Leader", recordVersionNumber={"S": "b"}))
    refused = lab.cli("fix", *lab.where, "--yes")
    assert refused.code == 4 and refused.says("Leader")


def test_the_operators_word_is_journaled(lab):
    assert lab.fix().code == 0
    assert lab.slept == []
    assert "operator" in header(lab.journal())["notes"]["stopped"]


@pytest.mark.parametrize(
    ("failover", "watch", "least"),
    [("", "1s", "30s"), ("", "29s", "30s"), ("&failover=10s", "1s", "4s"),
     ("&failover=5m", "99s", "100s")],
)  # fmt: skip
def test_a_watch_that_a_running_worker_may_outlast_is_refused(lab_of, failover, watch, least):
    """A worker renews every third of its failover time: 3.3 s at KCL's default, 100 s at 5 min."""
    lab = lab_of("a-both", f"{TRIM_HORIZON}{failover}")
    lab.alter("shardId-000000000000", leaseOwner={"S": "w1"})
    before = lab.items()
    refused = lab.cli("fix", *lab.where, "--yes", "--watch", watch)
    assert refused.code == 2, refused.err
    assert refused.says("too short", f"watch for at least {least}", f"--watch {least}")
    assert (lab.items(), lab.slept) == (before, [])


def header(journal: Path) -> dict:
    return json.loads(journal.read_text().splitlines()[0])["body"]


@pytest.mark.parametrize("flags", [(), ("--format", "json"), ("--assume-stopped",)])
def test_without_a_terminal_and_without_yes(lab, flags):
    refused = lab.cli("fix", *lab.where, *flags)
    assert refused.code == 4 and refused.says("--yes")
    assert lab.wire.writes == [] and lab.journals() == []


@pytest.mark.parametrize("flags", [(), ("--format", "json")])
def test_an_undo_asks_too_and_prints_the_whole_command(lab, flags):
    before = lab.items()
    assert lab.fix().code == 0
    lab.wire.calls.clear()
    refused = lab.cli("undo", lab.journal(), "--assume-stopped", "--watch", "45s", *flags)
    assert refused.code == 4 and lab.wire.writes == []
    (line,) = [li for li in refused.err.splitlines() if "reshardctl undo" in li]
    words = shlex.split(line.partition("reshardctl ")[2])
    assert words[-1] == "--yes" and {"--assume-stopped", "45s"} <= set(words)
    assert lab.cli(*words).code == 0
    assert lab.items() == before


def test_plans_and_journals_are_the_owners_alone(lab, tmp_path):
    old = os.umask(0)
    try:
        files = [tmp_path / "a.plan", tmp_path / "dry.txt", tmp_path / "done.json"]
        lab.dry("--out", files[0], "--output", files[1])
        lab.fix("--format", "json", "--output", files[2])
    finally:
        os.umask(old)
    for path in (files[0], lab.journal()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    for path in files[1:]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o666, "a report's is the umask's"
    assert stat.S_IMODE(lab.state.stat().st_mode) == 0o700


def test_no_secret_in_any_file(lab, tmp_path):
    lab.dry("--out", tmp_path / "a.plan", "--output", tmp_path / "dry.txt", "--verbose")
    lab.fix("--verbose")
    lab.undo("--verbose")
    lab.wire.fail("Scan", "AccessDeniedException", message=f"User {SECRETS[0]} may not")
    assert lab.inspect().code == 3
    for path in [p for p in tmp_path.rglob("*") if p.is_file()]:
        for secret in SECRETS:
            assert secret not in path.read_text(errors="replace"), path


def test_no_variable_names_a_target(lab_of, monkeypatch):
    """pg_resetwal: for safety, the directory is given on the command line, never by PGDATA."""
    command = typer.main.get_command(application())
    for verb in command.commands.values():  # type: ignore[attr-defined]
        assert all(p.envvar is None for p in verb.params), verb.name
        assert verb.context_settings.get("auto_envvar_prefix") is None
    lab = lab_of("a-both", TRIM_HORIZON)
    for name in ("LOCATOR", "CONSUMER", "TABLE", "STREAM", "PLAN", "RESUME", "YES"):
        for prefix in ("RESHARDCTL", "RESHARDCTL_FIX"):
            monkeypatch.setenv(f"{prefix}_{name}", lab.locator)
    assert lab.cli("fix", "--yes", "--assume-stopped").code == 2
    assert lab.cli("fix", lab.locator, "--yes", "--assume-stopped").code == 2
    assert lab.wire.calls == []
