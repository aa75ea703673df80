"""What has to hold of a damaged store, whatever befell it.

- Every command that reads ends as documented, says what is wrong in a line, and changes nothing.
- A position that was stored is not taken for an absent one without a word: a finding names the
  shard, or the command says that it could not tell.
- A fix with consent leaves a state of which the next plan is empty; `undo` restores every byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.cli.damaged.endings import ended_badly
from tests.cli.lab import Lab, Result

ALL = "skip=0s,reread=9999h,disorder"
"""Consent to every plan that loses nothing."""


@dataclass(frozen=True)
class Damaged:
    """A store after its damage.

    stored: everything in it. kept: the same without what no undo gives back. named: texts of which
    a message has at least one. stood: each shard's position before the damage, by `positions`.
    """

    lab: Lab
    what: str
    stored: Callable[[], Any]
    kept: Callable[[], Any]
    named: Sequence[str]
    stood: Mapping[str, Mapping[str, Any]]


def positions(lab: Lab) -> dict[str, Mapping[str, Any]]:
    """What `export` tells of every shard; nothing where it cannot."""
    return _told(lab.cli("export", *lab.where))


def _told(export: Result) -> dict[str, Mapping[str, Any]]:
    return {} if export.code else {entry["shard"]: entry for entry in export.json["positions"]}


def judge(damaged: Damaged) -> None:
    """Holds the properties of the module; see there."""
    before = damaged.stored()
    seen, now = _read(damaged)
    assert damaged.stored() == before, f"{damaged.what}: a command that reads changed something"
    if seen.code == 0:
        _not_silent(damaged, seen, now)
    if seen.code in (0, 1):
        _mended_and_undone(damaged)


def _run(damaged: Damaged, *words: str) -> Result:
    ended = damaged.lab.cli(*words)
    why = ended_badly(ended, damaged.named)
    assert not why, f"{damaged.what}: {words[0]} {why}: {ended.err[:400]}"
    return ended


def _read(damaged: Damaged) -> tuple[Result, Mapping[str, Mapping[str, Any]]]:
    """How `inspect` ends, and what `export` tells of every shard.

    Most verbs read the snapshot instead of the store: what is in it was read in the same way.
    Without a snapshot they end at the store.
    """
    lab = damaged.lab
    lab.state.parent.mkdir(exist_ok=True)
    file, redacted = (lab.state.parent / name for name in ("a.snapshot", "redacted.snapshot"))
    for earlier in (file, redacted):  # of another seed
        earlier.unlink(missing_ok=True)
    frozen = ["snapshot", lab.locator, "--stream", lab.stream]
    _run(damaged, *frozen, "-o", str(file))
    _run(damaged, *frozen, "-o", str(redacted), "--redact")
    read = [f"snapshot:{file}"] if file.exists() else lab.where
    _run(damaged, "status", *read)
    export = _run(damaged, "export", *read)
    _run(damaged, "explain", *read, "0")
    _run(damaged, "graph", *read, "--format", "text")
    _run(damaged, "fix", *lab.where, "--dry-run")
    seen = _run(damaged, "inspect", *lab.where, "--format", "json")
    if file.exists():
        again = _run(damaged, "inspect", f"snapshot:{file}")
        assert seen.code in (0, 1) or again.code == seen.code, damaged.what
    return seen, _told(export)


def _not_silent(damaged: Damaged, seen: Result, now: Mapping[str, Mapping[str, Any]]) -> None:
    found = json.dumps(seen.json["findings"])
    for shard, stood in damaged.stood.items():
        lost = stood["basis"] == "stored" and now.get(shard, {}).get("basis") != "stored"
        assert not lost or shard in found, f"{damaged.what}: nothing is said of {shard}"


def _mended_and_undone(damaged: Damaged) -> None:
    lab, before = damaged.lab, damaged.kept()
    stored = damaged.stored()
    said = ["--accept", ALL, "--created", lab.created]
    fixed = _run(damaged, "fix", *lab.where, "--yes", "--assume-stopped", *said)
    if not lab.journals():
        assert damaged.stored() == stored, f"{damaged.what}: written without a journal"
        return
    assert fixed.code in (0, 1), f"{damaged.what}: {fixed.err[:400]}"
    next_plan = _run(damaged, "fix", *lab.where, "--dry-run", "--accept", ALL, "--format", "json")
    assert next_plan.json["decision"]["kind"] not in ("plan", "ask"), damaged.what
    undone = _run(
        damaged, "undo", str(lab.journal()), "--yes", "--assume-stopped"
    )
    assert undone.code in (0, 1), f"{damaged.what}: {undone.err[:400]}"
    assert damaged.kept() == before, f"{damaged.what}: undo restores every byte"
