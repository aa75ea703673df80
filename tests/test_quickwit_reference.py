"""The reference source against the real one: runs of Quickwit 0.8.2 and 0.9.0, Nov 2026."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from tests.case_stream import shard_name
from tests.reference.quickwit import RELEASES, Run, started
from tests.reference.quickwit_store import StoredSource, sources

GOLDEN = Path(__file__).parent / "golden" / "quickwit"
STATES = ("q1", "q2", "q3", "q3b", "q4", "q5", "q6")
LATER = 12_000
"""Seconds after creation: every record has arrived."""


def fake_of(state: str, stream: str) -> FakeKinesis:
    scenario = json.loads((GOLDEN / "0.9.0" / state / "scenario.json").read_text())
    (one,) = [s for s in scenario["streams"] if s["name"] == stream]
    return load_topology({"account": "123456789012", "region": "us-east-1", "now": LATER, **one})


def recorded(release: str, state: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / release / state / "real_source.json").read_text())
    return found


def as_recorded(run: Run) -> dict[str, Any]:
    """In the words of real_source.json: records by their index."""
    return {
        "delivered": {
            shard: [int(payload.partition("-")[2]) for payload in payloads]
            for shard, payloads in sorted(run.delivered.items())
        },
        "published": run.published, "publish": run.publish, "panic": run.panic, "exit": run.exit,
        "checkpoint_after": run.checkpoint,
    }


def start(release: str, state: str, stored: StoredSource, **more: Any) -> dict[str, Any]:
    return as_recorded(started(
        fake_of(state, stored.stream), stored.stream, stored.positions, release,
        index_uid=stored.index_uid, source=stored.source, backfill=stored.backfill, **more,
    ))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("state", STATES)
def test_the_reference_does_what_the_real_source_did(release: str, state: str) -> None:
    found = sources(GOLDEN / release / state / "metastore", release)
    real = recorded(release, state)
    assert real.keys() == found.keys()
    for name, stored in found.items():
        outcomes = [start(release, state, stored)]
        if stored.backfill:  # the real run was one outcome of a race
            outcomes.append(start(release, state, stored, late=frozenset({shard_name(0)})))
        assert _known_uid(real[name], stored) in outcomes, name


def _known_uid(real: dict[str, Any], stored: StoredSource) -> dict[str, Any]:
    """The runs were made in an index of the same name that was created for them."""
    if real["exit"] and "could not find checkpoint" in real["exit"]:
        before, _, rest = real["exit"].partition("`")
        return {**real, "exit": f"{before}`{stored.index_uid}`{rest.partition('`')[2]}"}
    return real
