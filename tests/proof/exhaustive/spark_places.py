"""Places in a connector's checkpoint that a hand was in: where a shard goes on is another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.proof.exhaustive.spark_scenes import Scene
from tests.proof.reference.spark_files import logged, numbered, put, remove
from tests.proof.reference.spark_log import FOLDERS
from tests.proof.reference.spark_offset import Position, entry, entry_text, offset
from tests.proof.reference.spark_release import KNOWN

Others = dict[str, Position]
Way = Callable[[Position, Others, Random, Scene], Position | None]


def drop(_position: Position, _others: Others, _rng: Random, _scene: Scene) -> Position | None:
    """It is gone."""
    return None


def begin(position: Position, _others: Others, _rng: Random, _scene: Scene) -> Position | None:
    """The shard is read from its beginning."""
    return Position(position.shard, "TRIM_HORIZON")


def skip(position: Position, _others: Others, _rng: Random, _scene: Scene) -> Position | None:
    """The shard is read from its tip."""
    return Position(position.shard, "LATEST")


def end(position: Position, _others: Others, _rng: Random, _scene: Scene) -> Position | None:
    """The shard has ended."""
    return Position(position.shard, "SHARD_END")


def swap(position: Position, others: Others, rng: Random, _scene: Scene) -> Position | None:
    """The position of another shard."""
    return replace(others[rng.choice(sorted(others))], shard=position.shard)


def move(position: Position, _others: Others, rng: Random, scene: Scene) -> Position | None:
    """Another record of the same shard."""
    numbers = [number for number, *_ in scene.case.records.get(position.shard, ())]
    kind = rng.choice(("AFTER_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_SEQUENCE_NUMBER"))
    return Position(position.shard, kind, rng.choice(numbers)) if numbers else None


def date(position: Position, _others: Others, rng: Random, scene: Scene) -> Position | None:
    """A moment in the life of the stream."""
    created = scene.case.stream["created"]
    moment = rng.randrange(created, scene.case.now)
    return Position(position.shard, "AT_TIMESTAMP", str(moment * 1000))


WAYS: tuple[Way, ...] = (drop, drop, begin, skip, end, swap, move, move, date)
HONEST = frozenset({"drop", "begin"})
"""Ways that say of no unread record that it was read."""


def misplace(scene: Scene, seed: int, further: float = 0.0) -> str:
    """Change the position that a shard goes on from: in the log of the newest batch where that is
    committed, else in its line; of each other shard in the same way, with the chance `further`.
    Returns how, "" where there is none to change."""
    rng = Random(f"places {seed}")
    family = KNOWN[scene.release].family
    newest = numbered(scene.root / "offsets")[-1]
    path = scene.root / "offsets" / str(newest)
    planned = offset(logged(path.read_text(encoding="utf-8")).lines["0"] or "", family)
    log = scene.root / "sources/0" / FOLDERS[family] / str(planned.batch)
    if (scene.root / "commits" / str(newest)).exists():
        texts = {one.name: one.read_text(encoding="utf-8") for one in _entries(log)}
        places = {shard: entry(text, family) for shard, text in texts.items()}
    else:
        places = planned.places
    if not places:
        return ""
    way, shard = rng.choice(WAYS), rng.choice(sorted(places))
    chosen = [shard, *(s for s in sorted(places) if s != shard and rng.random() < further)]
    wanted = {each: way(places[each], places, rng, scene) for each in chosen}
    if places is not planned.places:
        for each, position in wanted.items():
            remove(log / each)
            if position is not None:
                put(log / each, entry_text(position, family))
    else:
        left = {name: position for name, position in (places | wanted).items() if position}
        text = replace(planned, places=left).text(family, KNOWN[scene.release].scala)
        put(path, logged(path.read_text(encoding="utf-8")).with_line("0", text).text())
    return " ".join([way.__name__, *chosen])


def _entries(log: Path) -> list[Path]:
    found = sorted(log.iterdir()) if log.is_dir() else []
    return [path for path in found if not path.name.startswith(".")]
