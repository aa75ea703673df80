"""A saved plan: what its start promises, by harm and shard, and files that are no plan."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reshardctl.errors import UsageError
from reshardctl.execution.plan_file import (
    broken,
    load,
    load_several,
    parsed,
    promises,
    save_several,
    text,
)
from reshardctl.model import shard_id
from reshardctl.planning.effects import Effect, Harm

POSSIBLE = Effect(Harm.REREAD, shard_id(1), certain=False)
CERTAIN = replace(POSSIBLE, certain=True)


@pytest.mark.parametrize(("promised", "now", "worse"), [
    (CERTAIN, CERTAIN, False), (CERTAIN, POSSIBLE, False), (POSSIBLE, POSSIBLE, False),
    (POSSIBLE, CERTAIN, True),
    (CERTAIN, replace(CERTAIN, shard=shard_id(2)), True),
    (CERTAIN, replace(CERTAIN, shard=None), True),
    (CERTAIN, replace(CERTAIN, harm=Harm.SKIPPED), True),
    (CERTAIN, replace(CERTAIN, seconds=3600.0), False),
    (CERTAIN, replace(CERTAIN, harm=Harm.SKIPPED, gone=True), False),
    (CERTAIN, replace(CERTAIN, harm=Harm.SKIPPED, past=True), False),
])  # fmt: skip
def test_another_harm_another_shard_and_more_certainty_are_worse(promised, now, worse):
    assert bool(broken(promises((promised,)), promises((now,)))) is worse


def test_what_no_longer_happens_breaks_no_promise():
    assert broken(promises((CERTAIN,)), ()) == []


def test_several_plans_go_through_a_pipe_and_stay_the_same() -> None:
    """As `--out >(gzip > plans.gz)` has them written."""
    content = (GOLDEN / "kcl-several" / "both.plans").read_bytes()
    reading, writing = os.pipe()
    try:
        saved = save_several(load_several(GOLDEN / "kcl-several" / "both.plans"), fd(writing))
        assert os.read(reading, 1 << 16) == content
    finally:
        os.close(reading)
        os.close(writing)
    assert saved.digest == sha256(content).hexdigest()


@pytest.mark.parametrize("shifts", [False, True])
def test_positions_that_were_reckoned_from_the_stored_ones_stay_so(shifts: bool) -> None:
    """--shift names no shard, so it does not show whose the rows are (docs/judged.md)."""
    plan = load(GOLDEN / "kcl-given" / "fix.plan")
    assert not plan.options.policy.shifts, "no file of version 0.2 says so"
    policy = replace(plan.options.policy, shifts=shifts)
    again = replace(plan, options=replace(plan.options, policy=policy))
    assert parsed(text(again), "p").options.policy == policy


def fd(descriptor: int) -> Path:
    return Path(f"/dev/fd/{descriptor}")


GOLDEN = Path(__file__).parents[2] / "golden" / "files-0.2"
FORGED: list[tuple[str, Any, str]] = [
    ("kcl", lambda p: p.update(schema="reshardctl/plan/9"), "not a plan of this version"),
    ("kcl", lambda p: p.update(made=1.0), "does not match its digest"),
    ("kcl", lambda p: p["wishes"].update(policy="free"), "wishes.policy: no policy is called 'fr"),
    ("kcl", lambda p: p["promised"][0].append(["skipped", ""]), r"promised\[0\]\[0\]: not harm"),
    ("kcl-given", lambda p: p["wishes"]["since"].update(places=[]), "since.places: not an object"),
    ("kcl-at-timestamp", lambda p: p["wishes"].update(since=None), "since: policy .*without its t"),
    ("kcl-at-timestamp", lambda p: p["wishes"]["since"].update(places=7), "places: not an object"),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "change", "words"), FORGED)
def test_what_is_no_plan_is_named(folder: str, change: Any, words: str) -> None:
    plan = json.loads((GOLDEN / folder / "fix.plan").read_text())
    change(plan)
    with pytest.raises(UsageError, match=f"^a.plan: .*{words}") as caught:
        parsed(json.dumps(plan, indent=1, sort_keys=True) + "\n", "a.plan")
    assert caught.value.next.startswith("make a new one: reshardctl fix")
