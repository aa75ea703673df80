"""Settings of the service as a whole."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Settings:
    """All durations are virtual seconds. The defaults are AWS's where AWS states one."""

    create_seconds: float = 5.0
    reshard_seconds: float = 5.0
    """How long a stream is UPDATING; meanwhile the old topology is listed."""
    delete_seconds: float = 5.0
    page_limit: int = 1000
    """Shards a ListShards page at most, whatever MaxResults says (ListShards API reference)."""
    token_seconds: float = 300.0
    """Lifetime of a NextToken (ListShards API reference)."""
    iterator_seconds: float = 300.0
    """Lifetime of a shard iterator (GetShardIterator API reference)."""
    reads_per_second: int | None = None
    """GetRecords calls a second a shard; AWS allows 5. None = no limit."""
    refuse_at_end: bool = False
    """Refuse AT_SEQUENCE_NUMBER on an EndingSequenceNumber. What AWS does is not known."""
    end_with_last_records: bool = False
    """Whether the end of a closed shard comes with its last records, not in an empty answer after.
    """
    arrival_lag: float = 0.0
    """Arrival timestamp minus the second in the number; AWS showed 0.3 to 2.5 s."""
    updates_per_day: int = 10
    """UpdateShardCount calls a stream in 24 hours (UpdateShardCount API reference)."""
