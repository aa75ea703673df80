"""The real Qubole connector on real Spark as a judge: one session, many queries at a time.

What counts is what a query's sink is given. The stream is the drawn one, at the real clock: it only
gets older, and nothing of it expires.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

from reshardctl.model import Image
from reshardctl.testing import load_topology, serve
from reshardctl.testing.service import Settings
from tests.proof.exhaustive.spark_scenes import NAME, Scene, live_records
from tests.proof.libraries.spark import built
from tests.proof.libraries.spark.connector import FORMAT, options
from tests.proof.libraries.spark.session import Spark
from tests.proof.libraries.spark.shapes import AHEAD_SECONDS, CENTURY_HOURS, Planted
from tests.proof.reference.spark import Run
from tests.support.case_stream import shard_name
from tests.support.dialects.spark import planted

PYSPARK = "3.5"
ROUND_SECONDS = 1
"""From one trigger of a query to the next; the connector lists shards once a second."""
QUIET_SECONDS = 2.0
IDLE_ROUNDS = 3
PATIENCE_SECONDS = 120
LONGER = 3
"""Times the usual wait that a further look waits more."""
LATE = "it was still busy when its time was up"


class Start(Protocol):
    """Starts the query of a scene on these files, put into this folder."""

    def __call__(self, scene: Scene, files: list[Image], folder: Path, looks: int) -> Run:
        """looks: how often the scene was looked at before. TimeoutError where it does not settle.
        """


@contextmanager
def qubole(jobs: int) -> Iterator[Start]:
    """Opens a session with the connector; RuntimeError where Spark or the connector is missing."""
    if reason := built.missing(PYSPARK):
        raise RuntimeError(reason)
    session = Spark(PYSPARK, {"spark.master": f"local[{jobs}]", "spark.driver.memory": "2g"})
    try:
        yield partial(_start, session)
    finally:
        session.close()


def _start(session: Spark, scene: Scene, files: list[Image], folder: Path, looks: int) -> Run:
    planted(files, folder)
    created = scene.case.stream["created"]
    age = time.time() + AHEAD_SECONDS - created
    table = {**scene.case.stream, "retention_hours": CENTURY_HOURS, "now": age}
    settings = Settings(end_with_last_records=scene.together)
    fake = load_topology(table, ticking=True, settings=settings)
    longer = 1 + LONGER * looks
    wait = {
        "quiet": QUIET_SECONDS * longer, "idle": IDLE_ROUNDS * longer,
        "patience": PATIENCE_SECONDS * longer, "pause": f"{ROUND_SECONDS} second",
        "checkpoint": str(folder),
    }
    with serve(fake) as server:
        query = Planted(folder, server.url, fake, NAME, scene.options.starting)
        answer = session.ask(
            "query", format=FORMAT, keep=True,
            options={**options(query), "failOnDataLoss": scene.locator["failOnDataLoss"]},
            own={"spark.sql.streaming.minBatchesToRetain": str(scene.options.retain)}, **wait,
        )  # fmt: skip
        if "kept" in answer:
            for shard, payload in live_records(scene):
                fake.put(NAME, shard, payload)
            answer = session.ask("more", **wait)
    if answer["late"]:
        raise TimeoutError(LATE)
    batches = [(place, _by_shard(rows)) for place, rows in enumerate(answer["batches"])]
    return Run(batches, answer["died"])


def _by_shard(payloads: list[str]) -> dict[str, list[str]]:
    """Payloads by the shard that they were put into, which is in their names: s1-0, s1-1."""
    shards: dict[str, list[str]] = {}
    for payload in payloads:
        name = shard_name(int(payload[1:].partition("-")[0]))
        shards.setdefault(name, []).append(payload)
    return shards
