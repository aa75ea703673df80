"""Values that everything else is made of: pure, frozen, ordered."""

from reshardctl.model.cuts import (
    DONE,
    START,
    TIP,
    Basis,
    Cut,
    Line,
    Rank,
    Span,
    Wanted,
    at_number,
    at_time,
    exactly,
    meet,
    possibly_before,
)
from reshardctl.model.fates import (
    NO_DELAY,
    Cause,
    Crash,
    Delay,
    Fate,
    Never,
    Reads,
    Replay,
)
from reshardctl.model.images import (
    Attributes,
    AttributeValue,
    Change,
    Create,
    Delete,
    Image,
    Step,
    Update,
    Write,
    after,
    canonical,
    changed,
)
from reshardctl.model.odd import Odd, Oddity
from reshardctl.model.probes import Probe
from reshardctl.model.sequence import Decoded, decode, is_number, time_of
from reshardctl.model.shards import (
    HASH_SPACE,
    Shard,
    ShardId,
    Stream,
    index_of,
    shard_id,
    short,
)

__all__ = [
    "DONE", "HASH_SPACE", "NO_DELAY", "START", "TIP",
    "AttributeValue", "Attributes", "Basis", "Cause", "Change", "Crash", "Create", "Cut",
    "Decoded", "Delay", "Delete", "Fate", "Image", "Line", "Never", "Odd", "Oddity", "Probe", "Rank",
    "Reads", "Replay", "Shard", "ShardId", "Span", "Step", "Stream", "Update", "Wanted", "Write",
    "after", "at_number", "at_time", "canonical", "changed", "decode", "exactly", "index_of",
    "is_number", "meet", "possibly_before", "shard_id", "short", "time_of",
]
