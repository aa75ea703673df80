"""Streams with reshards, and sinks that hold them with known faults.

Apart from FakeKinesis, which makes the numbers, nothing of the package is imported: what an audit
has to find is worked out here from the rows that were taken away, added and moved.
"""
