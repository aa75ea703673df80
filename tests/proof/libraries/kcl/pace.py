"""How fast each release is run: its own settings first, then the agent, and when it is still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

# Milliseconds; the library's own settings. Release 2 has no "assign", release 1.13 no "audit".
INTERVALS = {
    "failover": 2000,
    "audit": 1000,
    "idle": 250,
    "poll": 250,
    "assign": 500,
}


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of one release.

    ``waits`` is what the agent puts in place of hard-coded waits, in milliseconds, by its names for
    them. ``audits`` and ``seconds``: a run in which nothing has moved during so many audits and
    for so long has nothing more to do. A hole is mended at the third audit that sees it, and what
    that creates starts within two or three more.
    """

    waits: Mapping[str, int]
    intervals: Mapping[str, int]
    audits: int
    seconds: float

    def for_streams(self, n: int) -> Pace:
        """Each stream of a multi-stream application has audits of its own, told one by one."""
        return replace(self, audits=self.audits * max(1, n))

    def longer(self, times: int) -> Pace:
        """For a busy machine: a lease holds so many times as long, and only after so many times as
        long is the run still. The other intervals stay."""
        intervals = {**self.intervals, "failover": self.intervals["failover"] * times}
        return replace(
            self, intervals=intervals, audits=self.audits * times, seconds=self.seconds * times
        )


# These have no auditor: they synchronise at the start and at the end of each shard, and take
# leases every 2 × (failover + 25 ms) (LeaseCoordinator), which is the longest that they rest.
WITHOUT_AUDITOR = Pace({}, INTERVALS, audits=0, seconds=10.0)

# It audits from the first moment (KCL 1.15.3 KinesisPeriodicShardSyncManager.INITIAL_DELAY is 0),
# when in a case much is still to be read: the third audit must not be over before that is. The wait
# on an empty table has to stay above its stock lower bound of 1,000.
AUDITS_AT_ONCE = Pace({"emptyTable": 1001}, {**INTERVALS, "audit": 2000}, audits=5, seconds=6.0)

# The first audit comes when the work that needs none is over, as it does after the stock minute.
AUDITS_LATER = Pace({"firstAudit": 4000, "emptyTable": 1001}, INTERVALS, audits=7, seconds=3.0)

PACES = {
    "1.13.3": WITHOUT_AUDITOR,
    "1.15.3": AUDITS_AT_ONCE,
    "2.2.11": WITHOUT_AUDITOR,
    "2.7.2": AUDITS_LATER,
    "3.1.3": AUDITS_LATER,
    "3.5.1": AUDITS_LATER,
}
