"""For tests: a Kinesis in memory, with everything that can go wrong.

It imports nothing else of this package, so that it can contradict it.

Other rooms import what this file names, and `shards`. Read `fake` first.
"""

from __future__ import annotations

from reshardctl.testing.fake import FakeKinesis
from reshardctl.testing.http import serve
from reshardctl.testing.topology import load_topology

__all__ = ["FakeKinesis", "load_topology", "serve"]
