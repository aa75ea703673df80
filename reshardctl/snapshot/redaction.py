"""A snapshot for a bug report: names, accounts and owners replaced, all that is judged kept.

Kept are shard ids, numbers, times, hash keys, the words of the library itself, the names of its own
attributes and the region. Every other text, and every other name of an attribute, becomes `name-1`,
`name-2`, … , the same text the same name throughout, so that rows that belonged together still do.
Sequence numbers tell when records were written, not what.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from reshardctl.consumers.locator import SCHEMES, Locator
from reshardctl.consumers.registry import consumer_of
from reshardctl.diagnosis.evidence import Snapshot
from reshardctl.lineage import Lineage
from reshardctl.model import AttributeValue, Image, canonical

ACCOUNT = "000000000000"
STREAM = "stream"

_NUMBER = re.compile(r"~?\d+(\.\d+)?(E-?\d+)?\Z", re.ASCII)
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d\Z", re.ASCII)
_SHARD = re.compile(r"(LEASE#)?shardId-\d+\Z", re.ASCII)
_KEY_OF_STREAM = re.compile(r"\d{12}:([^:]+):(\d+)(:shardId-\d+)?\Z", re.ASCII)
"""A row key that names its account, stream and the stream's creation (KCL's multi-stream form)."""


def redacted_lineage(lineage: Lineage) -> Lineage:
    """The same shards of a stream without a name."""
    stream = lineage.stream
    arn = f"arn:aws:kinesis:{stream.region}:{ACCOUNT}:stream/{STREAM}"
    named = replace(stream, arn=arn, name=STREAM)
    return Lineage(named, (lineage[shard] for shard in lineage))


class Redaction:
    """The replacements so far. One instance serves all consumers of a snapshot."""

    def __init__(self, stream: str) -> None:
        """Begins with one replacement. stream: the stream's name."""
        self._names: dict[str, str] = {stream: STREAM}
        self._sides: dict[str, str] = {}
        self._of_stream = re.compile(rf"(.+)([-#]){re.escape(stream)}\Z", re.DOTALL)
        """An application's name joined to the stream's (kinesis-consumer's namespaces)."""
        self._joined = False
        self._parts: frozenset[str] | None = None
        self._own: frozenset[str] = frozenset()
        """The attributes of the library whose rows are replaced."""

    def snapshot(self, original: Snapshot, lineage: Lineage) -> Snapshot:
        """A consumer's snapshot over the redacted lineage."""
        locator, spec = original.locator, original.locator.spec
        target = self._target(locator)
        self._parts = spec.key_words
        consumer = consumer_of(locator)
        sides = zip(
            consumer.side_tables(locator.target), consumer.side_tables(target), strict=True
        )
        self._sides |= {named.name: unnamed.name for named, unnamed in sides}
        self._joined = "app" in spec.selectors
        images = (
            consumer.redact(image, self._name)
            or self._image(image, spec.plain, spec.owner_attributes, spec.attributes)
            for image in original.images
        )
        options = {
            name: self._name(value)
            if name in spec.selectors and not (name == "source" and value.isdigit()) else value
            for name, value in locator.options.items()
        }
        return replace(
            original, locator=locator.elsewhere(target, options), lineage=lineage,
            images=tuple(sorted(images, key=lambda image: image.key)),
            store=self._store(original.store, target, lineage.stream.region),
        )

    def _target(self, locator: Locator) -> str:
        """A replacement of the target, with the parts that such a target needs."""
        name = self._name(locator.target)
        shape = SCHEMES[locator.text[: locator.text.index(":")]].target
        shaped = (name, f"/{name}", f"{name}/{name}")
        return next((candidate for candidate in shaped if shape.match(candidate)), name)

    def _store(self, store: Mapping[str, str], target: str, region: str) -> dict[str, str]:
        kept = {name: value for name, value in store.items() if name in ("medium", "created")}
        return kept | {"arn": f"arn:aws:{kept.get('medium', 'store')}:{region}:{ACCOUNT}:{target}"}

    def _image(
        self, image: Image, plain: frozenset[str], owners: frozenset[str], own: frozenset[str]
    ) -> Image:
        self._own = own
        values = {
            self._attribute(name): {"S": self._name(value["S"])} if name in owners and "S" in value
            else self._value(value, plain)
            for name, value in image.attributes.items()
        }
        return Image(self._key(image.key, plain), canonical(values))

    def _key(self, key: str, plain: frozenset[str]) -> str:
        """The key of a row; a side table's row keeps its table, of the redacted application."""
        table, slash, rest = key.partition("/")
        if slash and table in self._sides:
            return f"{self._sides[table]}/{self._text(rest, plain)}"
        if slash and self._parts is not None:
            return "/".join(self._text(part, plain | self._parts) for part in key.split("/"))
        if slash and self._joined:
            return f"{self._text(table, plain)}/{self._text(rest, plain)}"
        return self._text(key, plain)

    def _value(self, value: AttributeValue, plain: frozenset[str]) -> AttributeValue:
        ((kind, body),) = value.items()
        return {kind: self._body(kind, body, plain)}

    def _body(self, kind: str, body: Any, plain: frozenset[str]) -> Any:
        match kind:
            case "S":
                return self._text(body, plain)
            case "SS":
                return sorted({self._text(member, plain) for member in body})
            case "B":
                return ""
            case "BS":
                return [""]
            case "L":
                return [self._value(member, plain) for member in body]
            case "M":
                return {
                    self._attribute(name): self._value(member, plain)
                    for name, member in body.items()
                }
            case _:
                return body

    def _attribute(self, name: str) -> str:
        """The name of an attribute: the library's own, or a replacement."""
        return name if name in self._own else self._name(name)

    def _text(self, text: str, plain: frozenset[str]) -> str:
        if text in plain or not text or _NUMBER.match(text) or _SHARD.match(text):
            return text
        if self._parts is not None and _REGION.match(text):
            return text
        if match := _KEY_OF_STREAM.match(text):
            return f"{ACCOUNT}:{self._name(match[1])}:{match[2]}{match[3] or ''}"
        if self._joined and (match := self._of_stream.match(text)):
            return f"{self._name(match[1])}{match[2]}{STREAM}"
        return self._name(text)

    def _name(self, text: str) -> str:
        return self._names.setdefault(text, f"name-{len(self._names)}")
