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


def written_and_undone_as_printed(store: Lab, stored: Callable[[], Any], folder: Path) -> None:
    """Each command that is printed does its work as it stands, where no watch shows who writes.

    stored: as below. The docs of such stores: `fix` and `undo` need `--assume-stopped`.
    """
    before, text = stored(), ("--format", "text")
    plan = ("--created", store.created, "--accept", "skip=all,reread=all,disorder")
    assert "undo JOURNAL --assume-stopped" in store.dry(*plan, "--format", "markdown").out
    (argv,) = store.dry(*plan, *text).commands("fix")
    done = store.cli(*argv, "--yes", *text)
    assert done.code in (0, 1) and stored() != before, done
    (back,) = done.commands("undo")
    asked = store.cli("undo", back[1])
    assert asked.code == 4 and asked.says("this store does not show", "--assume-stopped")
    assert store.cli("undo", "--list", *text).commands("undo") == [back]
    assert store.cli("undo", back[1], "--dry-run", *text).commands("undo") == [back]
    asked = store.cli(*back)
    assert asked.says("there is no terminal to ask at")
    undone = store.cli(*asked.commands("undo")[0])
    assert undone.code == 0 and stored() == before, undone
    (argv,) = store.dry(*plan, *text, "--out", folder / "a.plan").commands("fix")
    assert store.cli(*argv, "--yes", "--journal", folder / "a.jsonl").code in (0, 1)
    assert stored() != before


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
