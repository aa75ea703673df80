"""The libraries that reshardctl knows: one folder each, one line here."""

from __future__ import annotations

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.consumers.kinesis_consumer.consumer import KinesisConsumer
from reshardctl.consumers.kinsumer.consumer import Kinsumer
from reshardctl.consumers.locator import Locator
from reshardctl.consumers.quickwit.consumer import Quickwit
from reshardctl.consumers.spark.consumer import Spark

CONSUMERS: dict[str, Consumer] = {
    "kcl": Kcl(),
    "kinesis-consumer": KinesisConsumer(),
    "kinsumer": Kinsumer(),
    "quickwit": Quickwit(),
    "spark": Spark(),
}


def consumer_of(locator: Locator) -> Consumer:
    """The consumer that a locator names, set to its options and medium."""
    return CONSUMERS[locator.consumer].for_options(locator.options, locator.medium)
