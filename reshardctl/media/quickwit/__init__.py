"""Quickwit's metastores: files on disk or in a bucket."""

from reshardctl.media.quickwit.indexes import Indexes

__all__ = ["Indexes"]
