"""RSH504, see `pages/RSH504.md`."""

from __future__ import annotations

from collections.abc import Iterator

from reshardctl.auditing.facts import Fault
from reshardctl.diagnosis.rules.base import Found, rule
from reshardctl.diagnosis.rules.sinks import Sink, with_faults

WORDS = {
    Fault.OTHER_STREAM: "they name another stream",
    Fault.OTHER_INCARNATION: "their numbers are older than the stream: of an earlier one of its "
    "name",
    Fault.UNKNOWN_SHARD: "their shards are newer than the newest that is listed",
    Fault.NOT_ITS_SHARD: "the column for the shard names another one than the number does",
}
HELPS = "check --stream and --column, or audit each stream by itself"


@rule("RSH504", "rows-of-no-shard")
def rows_of_no_shard(sink: Sink) -> Iterator[Found]:
    """One warning for each fault."""
    yield from with_faults(sink, WORDS, "they are not counted otherwise", HELPS)
