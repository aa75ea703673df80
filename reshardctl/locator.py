"""Locators: one text that names a consumer's store and what is said of its application."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from reshardctl.errors import UsageError

_SHAPE = re.compile(
    r"(?P<scheme>[a-z0-9+-]+)://(?P<target>[^?]*)(?:\?(?P<options>.*))?\Z", re.DOTALL
)
_TABLE = re.compile(r"[a-zA-Z0-9_.-]{3,255}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Scheme:
    """What a scheme names. target: what may follow it; what: that in words, for messages."""

    consumer: str
    medium: str
    target: re.Pattern[str]
    what: str


SCHEMES = {
    "kcl": Scheme("kcl", "dynamodb", _TABLE, "name of a DynamoDB table"),
}

EXAMPLE = "kcl://my-application?initial=TRIM_HORIZON&release=3.5"


@dataclass(frozen=True, slots=True)
class Locator:
    """A parsed locator. `text` is what the operator wrote; reports repeat it verbatim."""

    text: str
    consumer: str
    medium: str
    target: str
    options: Mapping[str, str]


def parse(text: str) -> Locator:
    """Read a locator. Raises UsageError that names the part and the reason."""
    match = _SHAPE.match(text)
    if match is None:
        raise UsageError(f"{text!r} is no locator", f"write it as {EXAMPLE}")
    scheme, target = match["scheme"], match["target"]
    if scheme not in SCHEMES:
        known = ", ".join(f"{s}://" for s in SCHEMES)
        raise UsageError(f"{text!r}: {scheme}:// is not known", f"known are {known}")
    known_as = SCHEMES[scheme]
    if not known_as.target.match(target):
        raise UsageError(f"{text!r}: {target!r} is no {known_as.what}", f"write it as {EXAMPLE}")
    return Locator(
        text, known_as.consumer, known_as.medium, target, options(text, match["options"] or "")
    )


def options(text: str, query: str) -> dict[str, str]:
    """The options behind a question mark; text: the whole locator, for messages."""
    # A plus stays a plus: times have one in their zone.
    query = query.replace("+", "%2B")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise UsageError(
            f"{text!r}: its options are not name=value pairs joined by &", f"as in {EXAMPLE}"
        ) from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if not value:
            raise UsageError(f"{text!r}: option {name} has no value", f"as in {EXAMPLE}")
        if name in found:
            raise UsageError(f"{text!r}: option {name} stands twice", "keep one")
        found[name] = value
    return found
