"""Places in a connector's checkpoint that a hand was in: where a shard goes on is another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.reference.spark_files import logged, numbered, put, remove
from tests.reference.spark_log import FOLDERS
from tests.reference.spark_offset import Place, entry, entry_text, offset
from tests.reference.spark_release import RELEASES
from tests.sim.spark_scenes import Scene

Others = dict[str, Place]
Way = Callable[[Place, Others, Random, Scene], Place | None]


def drop(_place: Place, _others: Others, _rng: Random, _scene: Scene) -> Place | None:
    """It is gone."""
    return None


def begin(place: Place, _others: Others, _rng: Random, _scene: Scene) -> Place | None:
    """The shard is read from its beginning."""
    return Place(place.shard, "TRIM_HORIZON")


def skip(place: Place, _others: Others, _rng: Random, _scene: Scene) -> Place | None:
    """The shard is read from its tip."""
    return Place(place.shard, "LATEST")


def end(place: Place, _others: Others, _rng: Random, _scene: Scene) -> Place | None:
    """The shard has ended."""
    return Place(place.shard, "SHARD_END")


def swap(place: Place, others: Others, rng: Random, _scene: Scene) -> Place | None:
    """The place of another shard."""
    return replace(others[rng.choice(sorted(others))], shard=place.shard)


def move(place: Place, _others: Others, rng: Random, scene: Scene) -> Place | None:
    """Another record of the same shard."""
    numbers = [number for number, *_ in scene.case.records.get(place.shard, ())]
    kind = rng.choice(("AFTER_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_SEQUENCE_NUMBER"))
    return Place(place.shard, kind, rng.choice(numbers)) if numbers else None


def date(place: Place, _others: Others, rng: Random, scene: Scene) -> Place | None:
    """A moment in the life of the stream."""
    created = scene.case.stream["created"]
    moment = rng.randrange(created, scene.case.now)
    return Place(place.shard, "AT_TIMESTAMP", str(moment * 1000))


WAYS: tuple[Way, ...] = (drop, drop, begin, skip, end, swap, move, move, date)
HONEST = frozenset({"drop", "begin"})
"""Ways that say of no unread record that it was read."""


def misplace(scene: Scene, seed: int) -> str:
    """Change the place that a shard goes on from: in the log of the newest batch where that is
    committed, else in its line. Returns how, "" where there is none to change."""
    rng = Random(f"places {seed}")
    family = RELEASES[scene.release].family
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
    wanted = way(places[shard], places, rng, scene)
    if places is not planned.places:
        remove(log / shard)
        if wanted is not None:
            put(log / shard, entry_text(wanted, family))
    else:
        left = {name: place for name, place in places.items() if name != shard}
        left |= {shard: wanted} if wanted is not None else {}
        text = replace(planned, places=left).text(family, RELEASES[scene.release].scala)
        put(path, logged(path.read_text(encoding="utf-8")).with_line("0", text).text())
    return f"{way.__name__} {shard}"


def _entries(log: Path) -> list[Path]:
    found = sorted(log.iterdir()) if log.is_dir() else []
    return [path for path in found if not path.name.startswith(".")]
