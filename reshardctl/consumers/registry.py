"""The libraries that reshardctl knows: one folder each, one function here.

The code of a library is imported when it is first needed: most commands need that of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.locator import Locator


def _kcl() -> Consumer:
    from reshardctl.consumers.kcl.consumer import Kcl

    return Kcl()


def _kinesis_consumer() -> Consumer:
    from reshardctl.consumers.kinesis_consumer.consumer import KinesisConsumer

    return KinesisConsumer()


def _kinsumer() -> Consumer:
    from reshardctl.consumers.kinsumer.consumer import Kinsumer

    return Kinsumer()


def _quickwit() -> Consumer:
    from reshardctl.consumers.quickwit.consumer import Quickwit

    return Quickwit()


def _spark() -> Consumer:
    from reshardctl.consumers.spark.consumer import Spark

    return Spark()


class Consumers(Mapping[str, Consumer]):
    """Consumers by name, each made when it is first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], Consumer]]) -> None:
        """makers: name → what imports and makes the consumer."""
        self._makers = makers
        self._made: dict[str, Consumer] = {}

    def __getitem__(self, name: str) -> Consumer:
        if name not in self._made:
            self._made.setdefault(name, self._makers[name]())
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


CONSUMERS = Consumers({
    "kcl": _kcl,
    "kinesis-consumer": _kinesis_consumer,
    "kinsumer": _kinsumer,
    "quickwit": _quickwit,
    "spark": _spark,
})  # fmt: skip


def consumer_of(locator: Locator) -> Consumer:
    """The consumer that a locator names, set to its options and medium."""
    return CONSUMERS[locator.consumer].for_options(locator.options, locator.medium)
