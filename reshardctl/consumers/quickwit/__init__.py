"""Quickwit 0.7 to 0.9: the Kinesis source's positions in an index's metastore."""
