"""Every library's reference consumer, started on images: one call for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from reshardctl.model import Image
from reshardctl.testing import FakeKinesis, load_topology
from tests.proof.reference import kcl, kinesis_consumer, kinsumer
from tests.proof.reference import kinesis_consumer_telegraf as telegraf
from tests.proof.reference.kinesis_consumer import stored
from tests.proof.reference.quickwit import started
from tests.support.case import Case
from tests.support.case_stream import shard_name
from tests.support.dialects import kinesis_consumer as harlow
from tests.support.dialects import kinsumer as twitch
from tests.support.dialects import quickwit

STARTS: Mapping[str, tuple[str, ...]] = {
    "kcl": ("LATEST", "TRIM_HORIZON"), "kinsumer": ("TRIM_HORIZON",),
    "kinesis-consumer": ("LATEST", "TRIM_HORIZON"), "quickwit": ("",),
}
RELEASES: Mapping[str, tuple[str, ...]] = {
    "kcl": ("1.3.0", "1.13.3", "1.15.3", "2.2.11", "2.7.2", "3.5.1"),
    "kinsumer": kinsumer.RELEASES,
    "kinesis-consumer": ("0.5.0", "master-31e0042", "telegraf-1.39"),
    "quickwit": ("0.8.2", "0.9.0"),
}


@dataclass(frozen=True, slots=True)
class Started:
    """What a start delivered, shard by shard, and in which order where its model tells."""

    delivered: Mapping[str, Sequence[str]]
    died: bool
    order: Sequence[str] = ()


def start(case: Case, images: list[Image], initial: str, release: str) -> Started:
    """One start on these rows, with a record more in every open shard once it runs."""
    fake = load_topology(case.stream)
    name = case.stream["name"]

    def live() -> None:
        _put(case, fake)

    if case.consumer == "kcl":
        items = [dict(image.attributes) for image in images]
        ran: Any = kcl.run(fake, name, items, initial, release, live)
    elif case.consumer == "kinsumer":
        ran = kinsumer.run(fake, name, twitch.tables(images), initial, release, live)
    elif case.consumer == "kinesis-consumer":
        model = telegraf.run if release.startswith("telegraf") else kinesis_consumer.run
        ran = model(fake, name, _numbers(case, images), initial, release, live)
    else:
        ran = started(fake, name, _positions(images), release, live=live)
    return Started(ran.delivered, ran.died, getattr(ran, "order", ()))


def empty(case: Case) -> list[Image]:
    """A store that has lost its positions: Quickwit's source stays, with none."""
    return quickwit.images(case) if case.consumer == "quickwit" else []


def rows(case: Case, rng: Random) -> list[dict[str, Any]]:
    """Rows of any listed shards at any of their records, as the dialect spells them."""
    word = {"kcl": "checkpoint", "kinesis-consumer": "number"}.get(case.consumer, "at")
    found = []
    for shard in case.topology.values():
        places = [payload for _, payload, _ in shard.records]
        if places and shard.listed and rng.random() < 0.7:
            found.append({"shard": shard.id, word: rng.choice(places)})
    return found


def _put(case: Case, fake: FakeKinesis) -> None:
    for shard in case.topology.values():
        if not shard.end:
            fake.put(case.stream["name"], shard.id, f"n{shard.id}-0", f"k{shard.id}")


def _numbers(case: Case, images: list[Image]) -> dict[str, str]:
    space = f"{harlow.APP}-{case.stream['name']}/"
    return {
        image.key.removeprefix(space): stored(image.attributes)
        for image in images if image.key.startswith(space)
    }


def _positions(images: list[Image]) -> dict[str, str]:
    return {
        image.key.rpartition("/")[2]: str(image.attributes["position"]["S"])
        for image in images if "position" in image.attributes
    }


__all__ = ["RELEASES", "STARTS", "Started", "empty", "rows", "shard_name", "start"]
