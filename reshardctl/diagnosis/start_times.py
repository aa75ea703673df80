"""Refuses a start option with a time in the future.

GetShardIterator answers such a time with InvalidArgumentException: "The timestampInMillis parameter
cannot be greater than the currentTimestampInMillis". No library waits until it has passed.
"""

from __future__ import annotations

from reshardctl.consumers.base import Consumer
from reshardctl.consumers.sequence_numbers import to_come
from reshardctl.consumers.spec import Options
from reshardctl.errors import UsageError
from reshardctl.lineage import Lineage
from reshardctl.model.times import instant


def refuse_future(consumer: Consumer, options: Options, lineage: Lineage) -> None:
    """UsageError for a start time that is later than the listing; the clocks may differ."""
    for option, time in consumer.start_times(options).items():
        if to_come(lineage, time):
            raise UsageError(
                f"{option}: a time in the future, which Kinesis refuses; it was "
                f"{instant(lineage.stream.as_of)} when the stream was listed",
                "give a time that has passed, as the application is configured with",
            )
