"""What a reader of one file raises; whoever reads the tree turns it into an oddity."""

from __future__ import annotations


class Malformed(ValueError):
    """A text that is not of its format. `str()` says why, in words for people."""
