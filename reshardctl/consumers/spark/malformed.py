"""The error of a reader of one file; the reader of the directory turns it into an anomaly."""

from __future__ import annotations


class Malformed(ValueError):
    """A text that is not of its format; `str()` says why, for people."""
