"""The only caller of Kinesis: what a stream is, which shards it has, what is left in them.

Nothing here changes a stream; ACTIONS is all that is ever asked of the service.
"""

from reshardctl.kinesis.actions import ACTIONS
from reshardctl.kinesis.reader import Kinesis

__all__ = ["ACTIONS", "Kinesis"]
