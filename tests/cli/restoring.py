"""Moves a shard of a store by hand, puts the store back to a snapshot, and undoes both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.lab import Lab


def positions(lab: Lab) -> dict[str, tuple[str, str | None]]:
    """Kind and number of every stored position, as `export` tells them."""
    done = lab.cli("export", *lab.where)
    assert done.code == 0, done.err
    return {
        entry["shard"]: (entry["kind"], entry["number"])
        for entry in done.json["positions"] if entry["basis"] == "stored"
    }


def undo(lab: Lab, journal: Path | str) -> None:
    """Takes one fix back."""
    done = lab.cli("undo", journal, "--yes", "--assume-stopped")
    assert done.code in (0, 1), done.err


def set_restored_and_undone_twice(store: Lab, stored: Callable[[], Any], folder: Path) -> None:
    """The last record of a shard skips; the snapshot re-reads; two undos restore every byte.

    stored: what is in the store, without what no undo restores.
    """
    saved, before, there = folder / "before.snapshot", stored(), positions(store)
    assert store.cli("snapshot", store.locator, "--stream", store.stream, "-o", saved).code == 0
    shard = next(s for s, (kind, _) in there.items() if kind != "SHARD_END")
    last = str(store.fake.stream(store.stream).shards[int(shard[-12:])].records[-1].number)
    accept = ("--accept", "skip=all,reread=all,disorder", "--created", store.created)
    done = store.fix("--set", f"{shard}={last}", *accept)
    assert done.code in (0, 1), done.err
    assert positions(store)[shard] == ("AFTER_SEQUENCE_NUMBER", last)
    (first,) = store.journals()
    moved = stored()
    assert moved != before
    done = store.fix("--positions", saved, *accept)
    assert done.code in (0, 1), done.err
    assert positions(store)[shard] == there[shard]
    again = store.dry("--positions", saved, "--format", "json")
    assert again.json["decision"]["kind"] == "nothing"
    (second,) = set(store.journals()) - {first}
    undo(store, second)
    assert stored() == moved
    undo(store, first)
    assert stored() == before
