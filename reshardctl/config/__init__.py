"""`reshardctl.toml`: the streams and consumers, and what is wanted of each."""

from __future__ import annotations

from reshardctl.config.entries import Config, Consumer, Reach, Stream
from reshardctl.config.file import DEFAULT, load, nearest
from reshardctl.config.reading import read

__all__ = ["DEFAULT", "Config", "Consumer", "Reach", "Stream", "load", "nearest", "read"]
