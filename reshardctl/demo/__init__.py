"""The main commands on real input: a stream and a broken lease table on loopback servers.

The servers are FakeKinesis and moto's DynamoDB; moto comes with the extra `demo`. The lease table
was written by KCL 3.5.1 (see recorded/README.md).

Other rooms import `servers`, `show`. Read `show` first.
"""

from __future__ import annotations
