"""One Spark session in a process of its own, and what came of each thing that it ran."""

from __future__ import annotations

import itertools
import json
import os
import sys
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from unittest.mock import patch

from tests.proof.libraries.kcl.process import LineProcess
from tests.proof.libraries.spark.built import INSIDE, TARGET, beside, jars, python, quick

START_SECONDS = 120
PATIENCE_SECONDS = 60
QUIET_SECONDS = 3.0
IDLE_ROUNDS = 3
GRACE_SECONDS = 60

# Kinesis speaks CBOR to these SDKs (1 as it is, and 1 as the Qubole jar renames it, in strings
# too) unless told not to.
NO_CBOR = (
    "-Dcom.amazonaws.sdk.disableCbor=true "
    "-Dorg.apache.spark.sql.kinesis.shaded.amazonaws.sdk.disableCbor=true"
)
_CONFIGURATION = {
    "spark.master": "local[2]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": NO_CBOR,
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.noDataProgressEventInterval": "100",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one start of a query delivered, and how it ended."""

    batches: tuple[tuple[str, ...], ...]
    """The payloads of every batch that had any."""
    rows: tuple[str, ...]
    """What a reader of the file sink sees afterwards."""
    died: str
    """Why the query ended by itself; empty when it was stopped."""

    @property
    def delivered(self) -> list[str]:
        """Every payload, sorted, as often as it came."""
        return sorted(payload for batch in self.batches for payload in batch)


class Spark:
    """A session of one release ("3.5", "4.0" or "4"); ``close`` ends its JVM.

    ``packaged``: beside our own packages, with the format that they register; else in PySpark's own
    environment, with the small source of these tests.
    """

    def __init__(
        self, release: str, more: dict[str, str] | None = None, *, packaged: bool = False
    ) -> None:
        self._numbers = itertools.count()
        self._lock = Lock()
        self._ready: Future[dict[str, Any]] = Future()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self.log = TARGET / f"spark-{release}-{os.getpid()}.log"
        packages = [*jars("qubole"), *jars("dstreams")] if release == "3.5" else []
        configuration = {**_CONFIGURATION, **(more or {})}
        if packages:
            configuration["spark.jars"] = ",".join(map(str, packages))
        own = sys.executable if packaged else str(python(release))
        command = [own, str(INSIDE), json.dumps(configuration)]
        surroundings = _packaged(release) if packaged else _surroundings(release)
        with patch.dict(os.environ, surroundings):
            os.environ.pop("SPARK_HOME", None)
            self._process = LineProcess(command, self.log, self._hear)
        self.version: str = self._ready.result(START_SECONDS)["ready"]

    def close(self) -> None:
        self._process.close()

    def query(
        self, format: str, options: dict[str, str], checkpoint: Path | str, **more: Any  # noqa: A002
    ) -> Outcome:
        """Start a query on a checkpoint and wait until nothing comes any more (queries.py)."""
        answer = self.ask("query", format=format, options=options, checkpoint=str(checkpoint),
                          **{"quiet": QUIET_SECONDS, "idle": IDLE_ROUNDS, **more})  # fmt: skip
        assert not answer["late"], f"still busy after {PATIENCE_SECONDS} s; see {self.log}"
        batches = tuple(map(tuple, answer["batches"]))
        return Outcome(batches, tuple(answer.get("rows", ())), answer["died"] or "")

    def ask(self, what: str, **request: Any) -> dict[str, Any]:
        """Send one request and wait for its answer; AssertionError when it broke."""
        request = {"patience": PATIENCE_SECONDS, **request}
        with self._lock:
            number = next(self._numbers)
            waiting = self._waiting[number] = Future()
        self._process.say(json.dumps({"id": number, "what": what, **request}))
        answer = waiting.result(request["patience"] + GRACE_SECONDS)
        assert "broken" not in answer, answer["broken"]
        return answer

    def _hear(self, line: str) -> None:
        answer = json.loads(line)
        if "ready" in answer:
            self._ready.set_result(answer)
            return
        with self._lock:
            waiting = self._waiting.pop(answer["id"])
        waiting.set_result(answer)


def _surroundings(release: str) -> dict[str, str]:
    own = {"PYSPARK_PYTHON": str(python(release)), "PYTHONPATH": str(INSIDE)}
    return {**CREDENTIALS, **quick(release), **own}


def _packaged(release: str) -> dict[str, str]:
    return {**CREDENTIALS, **beside(release, INSIDE), "RESHARDCTL_REGISTERS": "1"}
