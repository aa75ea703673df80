"""`Kinesis`: reads the streams of one account and region."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from reshardctl.errors import CannotTell
from reshardctl.kinesis.budget import UNSEEN, Limits, Look
from reshardctl.kinesis.listing import Progress, settled_lineage, summary
from reshardctl.kinesis.probe import PROBED_RECORDS, Prober
from reshardctl.kinesis.target import target_of
from reshardctl.kinesis.transport import Transport, client_of
from reshardctl.kinesis.whose import streams, takes
from reshardctl.lineage import Lineage
from reshardctl.model import START, Count, Cut, Interval, PositionAtTime, Probe, ShardId, Stream

if TYPE_CHECKING:
    from boto3.session import Session


REREADS = 5
"""How often a listing that contradicts itself is read again: for half a minute."""


class Kinesis:
    """Reads streams. Every `stream` argument is a name or an ARN.

    Raises UsageError (no such stream, no region), StreamUnsettled, and CannotTell for everything
    that was not answered: no permission, credentials, throttling, no connection.
    """

    def __init__(
        self,
        session: Session,
        *,
        endpoint_url: str | None = None,
        region: str | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        progress: Progress | None = None,
        limits: Limits | None = None,
        look: Look = UNSEEN,
    ) -> None:
        """Makes a client and calls nothing yet. UsageError without a region.

        session: a boto3 Session with its profile, role and region. progress: called with the number
        of shards listed so far. limits: the cost allowed to each of `probes`, `counts` and
        `places`. look: hears of each of them.
        """
        client = client_of(session, region, endpoint_url)
        self._set_up(client, clock, sleep, progress, limits, look)

    @classmethod
    def of_client(
        cls,
        client: Any,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        progress: Progress | None = None,
        limits: Limits | None = None,
        look: Look = UNSEEN,
    ) -> Kinesis:
        """Makes a reader of a ready client, whose own retries come on top of ours."""
        new = cls.__new__(cls)
        new._set_up(client, clock, sleep, progress, limits, look)
        return new

    def _set_up(
        self,
        client: Any,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        progress: Progress | None,
        limits: Limits | None,
        look: Look,
    ) -> None:
        self._transport = Transport(client, sleep)
        self._clock, self._limits, self._look = clock, limits, look
        self._progress = progress or (lambda _listed: None)

    @cached_property
    def _prober(self) -> Prober:
        """What reads records, each shard at a steady pace; most commands read none."""
        return Prober(self._transport, self._clock, self._limits, self._look)

    @property
    def region(self) -> str:
        """The region that the calls go to."""
        return self._transport.region

    def summary(self, stream: str) -> Stream:
        """The answer of DescribeStreamSummary."""
        return summary(self._transport, target_of(stream, self.region))

    def lineage(self, stream: str, *, rereads: int = REREADS) -> Lineage:
        """All listed shards, from a consistent listing; its `stream` is the summary.

        The status may be UPDATING: then two listings in a row were the same. StreamUnsettled,
        naming the breaches, if after `rereads` more listings there is none.
        """
        target = target_of(stream, self.region)
        return settled_lineage(self._transport, target, rereads, self._progress)

    @property
    def records(self) -> Kinesis:
        """The calls that read records: its own."""
        return self

    def probe(
        self,
        stream: str,
        shard: ShardId,
        since: Cut,
        *,
        limit_records: int = 1,
        limit_calls: int = 20,
    ) -> Probe:
        """Reads from after a cut until `limit_records` records, the end, or `limit_calls` reads.

        `drained` is true only if that was seen: a closed shard's last answer, or an open shard's
        tip, without a record before. With `more`, what follows is unknown. CannotTell if the shard
        is gone or refuses the number.
        """
        target = target_of(stream, self.region)
        return self._prober.probe(target, shard, since, limit_records, limit_calls)

    def probes(
        self,
        stream: str,
        places: Iterable[tuple[ShardId, Cut]],
        *,
        limit_records: int = PROBED_RECORDS,
    ) -> dict[ShardId, Probe]:
        """Reads a few records after each cut, all within the limits; `silent` if they ran out.

        CannotTell if a shard is gone or refuses the number.
        """
        return self._prober.probes(target_of(stream, self.region), places, limit_records)

    def counts(self, stream: str, intervals: Iterable[Interval]) -> dict[Interval, Count]:
        """Counts the records of each interval by reading them, `at_least` if the limits ran out."""
        return self._prober.counts(target_of(stream, self.region), intervals)

    def places(
        self, stream: str, opened: Mapping[ShardId, float | None], time: float
    ) -> dict[ShardId, PositionAtTime | None]:
        """Each shard's position at a time (Unix seconds); `None` if the limits ran out first.

        opened: the shards, each with the Unix second in which it opened, if that is known.
        """
        return self._prober.places(target_of(stream, self.region), opened, time)

    def takes(self, stream: str, numbers: Iterable[int], iterator: str) -> dict[int, bool | None]:
        """Whether Kinesis takes each sequence number in the shard that it names, `None` if unknown.

        iterator: AT_SEQUENCE_NUMBER or AFTER_SEQUENCE_NUMBER. Without permission for
        GetShardIterator nothing is known. No record is read.
        """
        return takes(self._transport, target_of(stream, self.region), numbers, iterator)

    def streams(self) -> Mapping[str, float] | None:
        """The account's streams in this region: ARN → creation time (Unix seconds).

        `None` without permission for ListStreams.
        """
        return self._streams

    @cached_property
    def _streams(self) -> Mapping[str, float] | None:
        """Listed once: a stream of the second that is asked about cannot appear any more."""
        return streams(self._transport, self.region)

    def head(self, stream: str, shard: ShardId, *, limit_calls: int = 20) -> float | None:
        """Arrival (Unix seconds) of the oldest readable record; `None` if there is none.

        CannotTell if `limit_calls` reads returned neither a record nor the end.
        """
        probe = self.probe(stream, shard, START, limit_calls=limit_calls)
        if not probe.drained and not probe.count:
            what = f"{limit_calls} reads of shard {shard} met neither a record nor its end"
            raise CannotTell(what, "run this again")
        return probe.first_arrival
