"""The positions in one offset log, for a report that shows what a written batch says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from reshardctl.consumers.spark.cuts import spelled
from reshardctl.consumers.spark.lines import shapes
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.offset_log import parse_offset_log
from reshardctl.consumers.spark.sources import chosen
from reshardctl.errors import ReshardError
from reshardctl.model import Image, ShardId, Stream


def places(image: Image, source: str, stream: Stream) -> Mapping[ShardId, str]:
    """Positions by shard, of the source that reads the stream; none for other files."""
    if not image.key.startswith("offsets/"):
        return {}
    text = image.attributes.get("text", {}).get("S", "")
    return _places(str(text), source, stream)


@lru_cache(maxsize=4)
def _places(text: str, source: str, stream: Stream) -> Mapping[ShardId, str]:
    """The same; a file is asked for once a finding, and the line of 10 000 shards is read once."""
    try:
        log = parse_offset_log(text)
        offset = shapes.read(log[chosen({0: log}, stream, source)])
    except (Malformed, ReshardError, KeyError):
        return {}
    if offset is None:
        return {}
    return {shard: spelled(position) for shard, position in sorted(offset.positions.items())}
