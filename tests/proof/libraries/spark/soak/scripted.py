"""A query that is run step by step, for scenes that are not left to chance."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.proof.libraries.spark.soak import sinks
from tests.proof.libraries.spark.soak.judging import Row
from tests.proof.libraries.spark.soak.life import Life
from tests.proof.libraries.spark.soak.moving import STREAM
from tests.proof.libraries.spark.soak.scenes import Source

AVAILABLE_NOW = {"availableNow": True}


@dataclass
class Query:
    """One checkpoint and one sink; each `run` is a start with AvailableNow that ends by itself."""

    life: Life
    url: str
    folder: Path
    options: Mapping[str, str] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def run(self, *, die: Mapping[str, Any] | None = None, **options: str) -> str:
        """Start and wait; why it died, "" when it came to its end. `die` as running.py takes it."""
        sink = self.folder / "sink"
        sink.mkdir(exist_ok=True)
        source = Source()
        given = {source.endpoint: self.url, "streamName": STREAM, **dict(source.more)}
        self.life.order(
            "start", number=next(self._numbers), format=source.format, columns=source.columns,
            die=die or {}, options={**given, **self.options, **options}, sink="batches",
            folder=str(sink), checkpoint=str(self.folder / "checkpoint"), trigger=AVAILABLE_NOW,
        )  # fmt: skip
        said = self.life.hears("over", "died")
        return str(said.get("why", ""))

    @property
    def batches(self) -> list[list[Row]]:
        """The rows of each batch that had any, in order; those of the last attempt at it."""
        last = {each.batch: each for each in sinks.attempts(self.folder / "sink")}
        return [list(last[batch].rows) for batch in sorted(last) if last[batch].rows]

    @property
    def delivered(self) -> list[str]:
        """ "key|turn" of every row, in the order of batches."""
        return [f"{row.key}|{row.turn}" for batch in self.batches for row in batch]
