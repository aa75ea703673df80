"""What parsing and simulating gave, kept for the rest of one decision.

A decision looks at a few sets of rows, the stored ones and those after a plan, and asks several
times for the same start of the same candidate. Consumers are pure, so one answer serves them all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reshardctl.consumers.base import Candidate, Consumer
from reshardctl.consumers.sequence_numbers import Origin, origin
from reshardctl.lineage import Lineage
from reshardctl.model import Frontier, Image, ShardId, Simulation, Step, Stream, after
from reshardctl.model.memo import Once

STATES = 4
"""Sets of rows that are kept: the stored ones, and those after the plans looked at last."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """One set of rows, as parsed."""

    images: tuple[Image, ...]
    consumer: Consumer
    stream: Stream
    checkpoint: Any
    once: Once = field(default_factory=Once)


class Remembered:
    """The answers of a consumer; the same question about equal rows is not asked twice."""

    def __init__(self) -> None:
        self._rows: deque[_Rows] = deque(maxlen=STATES)
        self._written: deque[tuple[Sequence[Image], Sequence[Step], list[Image]]] = deque(
            maxlen=STATES
        )

    def after(self, images: Sequence[Image], steps: Sequence[Step]) -> Sequence[Image]:
        """These rows after these steps, one list for each: what was parsed of it is found again."""
        for before, done, rows in self._written:
            if before is images and done == tuple(steps):
                return rows
        rows = after(images, steps)
        self._written.append((images, tuple(steps), rows))
        return rows

    def checkpoint(self, consumer: Consumer, images: Iterable[Image], stream: Stream) -> Any:
        """The rows as the consumer parses them."""
        asked = tuple(images)
        for at, rows in enumerate(self._rows):
            same = rows.consumer is consumer and rows.stream == stream and rows.images == asked
            if same and rows.stream.as_of == stream.as_of:
                del self._rows[at]
                self._rows.append(rows)
                return rows.checkpoint
        last = self._rows[-1] if self._rows else None
        if last is not None and last.consumer is consumer and last.stream == stream:
            checkpoint = consumer.parse_again(asked, stream, last.checkpoint)
        else:
            checkpoint = consumer.parse(asked, stream)
        self._rows.append(_Rows(asked, consumer, stream, checkpoint))
        return checkpoint

    def start(
        self, consumer: Consumer, lineage: Lineage, checkpoint: Any, candidate: Candidate
    ) -> Simulation:
        """What the consumer does at its next start."""
        return self._of(checkpoint)(
            "start", (lineage, candidate.app),
            lambda: consumer.simulate_start(lineage, checkpoint, candidate.app),
        )

    def processed(
        self, consumer: Consumer, lineage: Lineage, checkpoint: Any, candidate: Candidate
    ) -> Frontier:
        """What the rows prove to be processed."""
        return self._of(checkpoint)(
            "processed", (lineage, candidate.app),
            lambda: consumer.processed(lineage, checkpoint, candidate.app),
        )

    def origins(
        self, consumer: Consumer, lineage: Lineage, checkpoint: Any
    ) -> Mapping[ShardId, Origin | None]:
        """Whose the number of each stored position is."""
        return self._of(checkpoint)(
            "origins", (lineage,),
            lambda: {s: origin(lineage, text) for s, text in consumer.texts(checkpoint).items()},
        )

    def _of(self, checkpoint: Any) -> Once:
        known = (rows.once for rows in self._rows if rows.checkpoint is checkpoint)
        return next(known, Once())
