"""Files of the connectors' logs as the connectors write them, for tests."""

from __future__ import annotations

import json
from types import ModuleType

from reshardctl.consumers.spark.lines import awslabs, connectors
from reshardctl.consumers.spark.positions import Position
from reshardctl.model import ShardId


def entry_text(connector: ModuleType, shard: ShardId, position: Position) -> str:
    """An entry of awslabs' or Qubole's log; connector: the module of its format."""
    members: dict[str, object] = {"shardId": shard, **connectors.members(position)}
    if connector is awslabs:
        members |= {"subSequenceNumber": position.sub, "isLast": position.last}
    return json.dumps(members, separators=(",", ":"))
