"""Quickwit's metastores: files on disk or in a bucket."""

from reshardctl.stores.quickwit.indexes import Indexes

__all__ = ["Indexes"]
