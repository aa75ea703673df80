"""The contents of a valid configuration."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from reshardctl.consumers.locator import Locator
from reshardctl.diagnosis.rules.base import Suppression

SERVICES = ("kinesis", "dynamodb", "sts", "s3")
"""AWS services that may have an endpoint of their own."""


class Reach(Struct, frozen=True):
    """How AWS is reached; "" means the environment's own.

    endpoints: service → URL. sources: option → where it is set, `reshardctl.toml:12` or "".
    """

    region: str = ""
    profile: str = ""
    role: str = ""
    endpoints: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)


class Stream(Struct, frozen=True):
    """`[streams.NAME]`. stream: its name or ARN. created: Unix seconds; pins the incarnation."""

    name: str
    stream: str
    reach: Reach
    created: float | None
    origin: str


class Consumer(Struct, frozen=True):
    """`[consumers.NAME]`. sources: option → where it is set, "" for the default.

    journal: the directory of its journals, "" for the usual one. watch: how long to look for signs
    of life before a write, "" for the usual time. fail_on: a severity or `never`, "" for the usual
    one. probe: `None` where it is not set.
    """

    name: str
    stream: Stream
    locator: Locator
    policy: str
    accept: str
    journal: str
    reach: Reach
    origin: str
    sources: Mapping[str, str]
    watch: str = ""
    fail_on: str = ""
    probe: bool | None = None

    @property
    def where(self) -> tuple[str, int]:
        """File and line of the consumer."""
        file, _, line = self.origin.rpartition(":")
        return file, int(line)


class Config(Struct, frozen=True):
    """A whole file, in its own order."""

    file: str
    streams: Mapping[str, Stream]
    consumers: Mapping[str, Consumer]
    suppressions: tuple[Suppression, ...]
