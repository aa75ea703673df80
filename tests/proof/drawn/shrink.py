"""The smallest state that a violation of the same kind is left in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace

from tests.proof.drawn.families import Family
from tests.proof.drawn.states import State
from tests.support.case_stream import shard_name

Fails = Callable[[State], bool]


def shrunk(state: State, family: Family, fails: Fails, tries: int) -> State:
    """Fewer damages, rows, records and shards, one after the other, for so many starts."""
    left = tries
    best = state
    progress = True
    while progress and left > 0:
        progress = False
        for smaller in _smaller(best, family):
            if left <= 0:
                break
            left -= 1
            if _holds(smaller, fails):
                best, progress = smaller, True
                break
    return best


def _holds(state: State, fails: Fails) -> bool:
    try:
        return fails(state)
    except Exception:
        return False


def _smaller(state: State, family: Family) -> Iterator[State]:
    if len(state.damages) > 1 and state.seed >= 0:
        for place in range(len(state.damages)):
            yield family.state(state.seed, state.stream["created"], [place])
    for key in sorted(state.rows):
        yield replace(state, rows={k: v for k, v in state.rows.items() if k != key})
    shards = state.stream["shards"]
    parents = {p for s in shards for p in s.get("parents", [])}
    for shard in shards:
        name = shard_name(shard["id"])
        if shard["id"] not in parents and shard.get("parents"):
            gone = _without(state, shard["id"])
            rows = {k: v for k, v in state.rows.items() if not k.endswith(name)}
            yield replace(state, stream=gone, rows=rows)
    stored = json.dumps(state.rows)
    for place, shard in enumerate(shards):
        held = state.case.records[shard_name(shard["id"])]
        if len(held) > 1 and held[-1][0] not in stored:
            stream = deepcopy(state.stream)
            stream["shards"][place]["records"].pop()
            yield replace(state, stream=stream)


def _without(state: State, index: int) -> dict[str, object]:
    """The stream before the split or merge that this shard came of."""
    stream = deepcopy(state.stream)
    (gone,) = (s for s in stream["shards"] if s["id"] == index)
    born = {s["id"] for s in stream["shards"] if s.get("parents") == gone["parents"]}
    kept = []
    for shard in stream["shards"]:
        if shard["id"] in born or not born.isdisjoint(shard.get("parents", ())):
            born.add(shard["id"])
        else:
            kept.append(shard)
    stream["shards"] = kept
    left = {parent for shard in kept for parent in shard.get("parents", ())}
    for shard in kept:
        if shard["id"] not in left:
            shard.pop("close", None)
    return stream
