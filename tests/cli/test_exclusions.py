"""Options that exclude each other: the message says why, and which of the two to leave out."""

from __future__ import annotations

import pytest

ON = ("kcl://app", "--stream", "s")
SINK = ("--from", "/sink")
PLAN = ("fix", "--plan", "a.plan")
RESUME = ("fix", "--resume", "a.jsonl")
EXCLUSIONS = [
    ((*PLAN, "--dry-run"), "--plan applies a saved plan as it is", "leave --dry-run out"),
    ((*PLAN, "--out", "b"), "--plan applies a saved plan as it is", "leave --out out"),
    ((*PLAN, "--policy", "latest"), "--plan applies", "leave --policy out"),
    ((*RESUME, "--dry-run"), "--resume finishes a fix", "without --yes what is left is shown"),
    ((*RESUME, "--policy", "latest"), "--resume finishes a fix", "leave --policy out"),
    (("rebuild", "--plan", "a", "--dry-run"), "--plan applies", "leave --dry-run out"),
    (("undo", "--list", "--yes"), "--list only shows", "leave --yes out"),
    (("undo", "x", "--show", "--dry-run"), "--show only shows", "leave --dry-run out"),
    (("undo", "--show", "--list"), "--show only shows", "leave --list out"),
    (("undo", "--prune", "--show"), "--prune deletes journals", "leave --show out"),
    (("undo", "--prune", "--whole-file"), "--prune deletes", "leave --whole-file out"),
    (("undo", "--older-than", "1d"), "--older-than belongs to --prune", "leave --older-than out"),
    (("fix", *ON, "--plan", "a"), "a plan and a journal name their consumer", "--plan PLAN"),
    (("fix", *ON, "--shift", "-2h", "--set", "1=LATEST"), "--shift moves every shard", "--shift"),
    (("fix", *ON, "--set", "1=LATEST", "--policy", "latest"), "where shards start",
     "leave --policy out"),
    (("fix", *ON, "--live", "--assume-stopped"), "runs, or it does not", "leave --assume-stopped"),
    (("fix", *ON, "--live", "--bootstrap"), "positions of its own", "leave --live out"),
    (("fix", *ON, "--bootstrap", "--recreated", "2026-11-21T00:00:00Z"), "without positions",
     "leave --bootstrap out"),
    (("fix", *ON, "--bootstrap", "--shards", "1"), "with every shard", "leave --shards out"),
    (("fix", *ON, "--rule", "RSH203", "--not-rule", "RSH203"), "RSH203", "from --not-rule"),
    (("fix", "spark:/c", "--stream", "s", "--to", "/d", "--dry-run"), "makes the copy",
     "leave --dry-run out"),
    (("inspect", *ON, "--every", "5m", "--wait", "5m"), "--wait waits once", "first with --wait"),
    (("inspect", *ON, "--if-reshard", "4", "--watch", "60s"), "nobody has made", "once with each"),
    (("inspect", *ON, "--if-reshard", "4", "--format", "openmetrics"), "what is",
     "leave --if-reshard out"),
    (("inspect", *ON, "--if-reshard", "4", "--shards", "1"), "no number yet",
     "leave --shards out"),
    (("inspect", *ON, "--if-reshard", "4", "--count"), "no records", "leave --if-reshard out"),
    (("audit", "/sink", "--stream", "s", "--master", "local", "--remote", "sc://h"),
     "another Spark", "leave --master out"),
]


@pytest.mark.parametrize(("words", "why", "way_out"), EXCLUSIONS, ids=lambda v: str(v[:4]))
def test_what_excludes_what_and_why(lab, tmp_path, monkeypatch, words, why, way_out):
    monkeypatch.chdir(tmp_path)
    result = lab.cli(*words)
    assert result.code == 2 and result.says(why, way_out)
    assert lab.wire.calls == []
