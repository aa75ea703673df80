"""A state as text: what a violation is told with, and a file that can be kept."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tests.proof.drawn.states import State
from tests.proof.drawn.trial import Violation


def told(state: State, violations: Iterable[Violation]) -> str:
    """The state in short."""
    lines = [f"{state.family} seed {state.seed}, {dict(state.options)}: {state.title}"]
    for shard in state.stream["shards"]:
        close = f"..{shard['close']}" if "close" in shard else ".."
        held = " ".join(f"{r['data']}@{r['t']}" for r in shard.get("records", []))
        lines.append(f"  shard {shard['id']} of {shard.get('parents', [])} "
                     f"{shard['open']}{close}: {held}")
    names = _names(state)
    for key, row in sorted(state.rows.items()):
        text = json.dumps(row, sort_keys=True)
        for number, name in names.items():
            text = text.replace(number, name)
        lines.append(f"  {key} {text}")
    return "\n".join([*lines, *(f"  ! {one}" for one in violations)])


def document(state: State, violations: Iterable[Violation]) -> str:
    """Everything that makes the state, as JSON."""
    return json.dumps({
        "family": state.family, "seed": state.seed, "damages": state.damages,
        "options": dict(state.options), "stream": state.stream, "rows": state.rows,
        "extra": dict(state.extra), "violations": [str(one) for one in violations],
    }, indent=1, sort_keys=True) + "\n"


def _names(state: State) -> dict[str, str]:
    found = {n: f"<{p}>" for held in state.case.records.values() for n, p, _ in held}
    for shard in state.case.topology.values():
        found[shard.start] = f"<START {shard.id}>"
        if shard.end:
            found[shard.end] = f"<END {shard.id}>"
    return found
