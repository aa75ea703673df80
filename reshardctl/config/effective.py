"""A configuration as it takes effect: TOML again, with the source of every value beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from reshardctl.config.entries import Config, Consumer, Reach, Stream
from reshardctl.diagnosis.rules.base import Suppression
from reshardctl.model import index_of

WIDTH = 44
"""Columns of a value before its source."""


def shown(config: Config) -> Iterator[str]:
    """Lines that read back as the same configuration."""
    yield f"# {config.file}, as it takes effect"
    for stream in config.streams.values():
        yield ""
        yield from _stream(stream)
    for consumer in config.consumers.values():
        yield ""
        yield from _consumer(consumer)
    for suppression in config.suppressions:
        yield ""
        yield from _suppression(suppression)


def _stream(stream: Stream) -> Iterator[str]:
    yield _beside(f"[streams.{_key(stream.name)}]", stream.origin)
    yield f"stream = {_text(stream.stream)}"
    if stream.created is not None:
        yield f"created = {_time(stream.created)}"
    yield from _reach(stream.reach)


def _consumer(consumer: Consumer) -> Iterator[str]:
    yield _beside(f"[consumers.{_key(consumer.name)}]", consumer.origin)
    yield f"stream = {_text(consumer.stream.name)}"
    yield f"locator = {_text(consumer.locator.text)}"
    values = {
        "policy": consumer.policy, "accept": consumer.accept, "journal": consumer.journal,
        "watch": consumer.watch, "fail-on": consumer.fail_on,
    }
    for name, value in values.items():
        if value:
            yield _beside(f"{name} = {_text(value)}", _source(consumer.sources, name))
    if consumer.probe is not None:
        value = "true" if consumer.probe else "false"
        yield _beside(f"probe = {value}", _source(consumer.sources, "probe"))
    yield from _reach(consumer.reach)


def _reach(reach: Reach) -> Iterator[str]:
    values = {"region": reach.region, "profile": reach.profile, "role_arn": reach.role}
    for name, value in values.items():
        if value or name in reach.sources:
            yield _beside(f"{name} = {_text(value)}", _source(reach.sources, name))
    if reach.endpoints:
        pairs = ", ".join(f"{name} = {_text(url)}" for name, url in reach.endpoints.items())
        source = _source(reach.sources, "endpoint_url")
        yield _beside(f"endpoint_url = {{ {pairs} }}", source)


def _suppression(suppression: Suppression) -> Iterator[str]:
    yield _beside("[[suppress]]", suppression.origin)
    yield f"consumer = {_text(suppression.consumer)}"
    yield f"rule = {_text(suppression.rule)}"
    if suppression.shards:
        yield f"shards = [{', '.join(sorted(map(_shard, suppression.shards)))}]"
    if suppression.until is not None:
        yield f"until = {suppression.day or _time(suppression.until)}"
    yield f"why = {_text(suppression.why)}"


def _shard(name: str) -> str:
    return _text(name) if index_of(name) is None else str(index_of(name))


def _source(sources: Mapping[str, str], name: str) -> str:
    return sources.get(name) or "default"


def _beside(text: str, source: str) -> str:
    return f"{text:{WIDTH}}  # {source}"


def _key(name: str) -> str:
    return f'"{name}"' if "." in name else name


def _text(value: str) -> str:
    """A TOML string; JSON's escapes are among TOML's."""
    return json.dumps(value)


def _time(seconds: float) -> str:
    """A time to the microsecond, as TOML can hold it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
