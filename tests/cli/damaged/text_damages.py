"""What befalls the bytes of a stored text: by a power loss, an editor, another program.

A damage takes dice and the bytes as they were. One that finds nothing to change returns them so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

TextDamage = Callable[[Random, bytes], bytes]

Place = tuple[Any, Any]
"""An object or a list of a document, and the name or index of a member."""

ODD_VALUES: Sequence[str] = (
    "null", "true", '""', "0", "-1", "1.5", "1e999", "-1e999", "1" + "0" * 400, "9" * 5000, "NaN",
    "Infinity", "[]", "{}", "[[[[]]]]", '"x"', '"\\ud800"', '"\\u0000"', '"\\n"',
    '"ü€\\ud83d\\ude00"',
    '"' + "x" * 70_000 + '"', '"' + "9" * 5000 + '"', '"-1"', '"1e5"', '"٣"', '"\\u001b[2J"',
    "9223372036854775808", "-9223372036854775809", "[" * 3000 + "]" * 3000, '{"":{}}', '[null]',
    '"../../x"', '"SHARD_END"', '"2026-13-45T99:00:00Z"', '"9999-12-31T23:59:59Z"', "253402300800",
)  # fmt: skip
"""JSON texts to stand for a value."""
_MARK = "\ue000odd\ue000"


def truncated(dice: Random, content: bytes) -> bytes:
    return content[: dice.randrange(len(content) + 1)]


def one_byte_flipped(dice: Random, content: bytes) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def zeros_appended(dice: Random, content: bytes) -> bytes:
    return content + b"\0" * dice.choice((1, 512, 4096))


def zeros_instead(dice: Random, content: bytes) -> bytes:
    """As a file system leaves a file whose blocks were never written."""
    kept = dice.choice((0, len(content) // 2))
    return content[:kept] + b"\0" * (len(content) - kept)


def emptied(_dice: Random, _content: bytes) -> bytes:
    return b""


def byte_order_mark(dice: Random, content: bytes) -> bytes:
    return dice.choice((b"\xef\xbb\xbf", b"\xff\xfe")) + content


def in_another_encoding(dice: Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(dice.choice(("utf-16", "utf-16-le", "utf-32")), "replace")


def carriage_returns(_dice: Random, content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n") if b"\n" in content else content + b"\r\n"


def stray_bytes(dice: Random, content: bytes) -> bytes:
    at = dice.randrange(len(content) + 1)
    stray = dice.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\x1b[2J", b"\xfc"))
    return content[:at] + stray + content[at:]


def twice(_dice: Random, content: bytes) -> bytes:
    return content + content


def line_lost(dice: Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    if len(lines) > 1:
        del lines[dice.randrange(len(lines))]
    return b"".join(lines)


def line_doubled(dice: Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    if lines:
        at = dice.randrange(len(lines))
        lines.insert(at, lines[at])
    return b"".join(lines)


def value_replaced(dice: Random, content: bytes) -> bytes:
    """A value of a JSON document, or of a line that is one, is another."""

    def change(holder: Any, member: Any) -> None:
        holder[member] = _MARK

    changed = _edited(dice, content, change)
    return changed.replace(json.dumps(_MARK).encode(), dice.choice(ODD_VALUES).encode())


def member_lost(dice: Random, content: bytes) -> bytes:
    def change(holder: Any, member: Any) -> None:
        del holder[member]

    return _edited(dice, content, change)


def member_twice(dice: Random, content: bytes) -> bytes:
    """A member of an object stands twice; the second has another value."""
    value = dice.choice(ODD_VALUES)

    def change(holder: Any, member: Any) -> None:
        if isinstance(holder, dict):
            holder[member + _MARK] = holder[member]
        else:
            holder.insert(member, holder[member])

    changed = _edited(dice, content, change)
    mark = json.dumps(_MARK)[1:-1].encode()
    before, found, behind = changed.partition(mark + b'":')
    if not found:
        return changed
    if dice.random() < 0.5:
        return before + b'":' + behind
    return before + b'":' + value.encode() + b',"odd":' + behind


def member_renamed(dice: Random, content: bytes) -> bytes:
    def change(holder: Any, member: Any) -> None:
        if isinstance(holder, dict):
            names = ("", "x", "ü", "\ud800", "..", "a/b", "a\0b", f"{member} ")
            holder[dice.choice(names)] = holder.pop(member)

    return _edited(dice, content, change)


def values_swapped(dice: Random, content: bytes) -> bytes:
    """Two members of an object or a list have each other's value."""

    def change(holder: Any, member: Any) -> None:
        others = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        other = dice.choice(others)
        holder[member], holder[other] = holder[other], holder[member]

    return _edited(dice, content, change)


def _edited(dice: Random, content: bytes, change: Callable[[Any, Any], None]) -> bytes:
    """The bytes with one JSON document in them changed; as they were where there is none."""
    for head, body, tail in _documents(dice, content):
        places = list(_places(body))
        if places:
            change(*dice.choice(places))
            compact = dice.random() < 0.8
            text = json.dumps(body, separators=(",", ":") if compact else None)
            return head + text.encode() + tail
    return content


def _documents(dice: Random, content: bytes) -> Iterator[tuple[bytes, Any, bytes]]:
    """Each JSON document: the whole, or those of lines, behind `0:` or `N:` too."""
    try:
        yield b"", json.loads(content), b""
        return
    except ValueError:
        pass
    lines = content.splitlines(keepends=True)
    for at in dice.sample(range(len(lines)), len(lines)):
        begin = min((i for i in (lines[at].find(b"{"), lines[at].find(b"[")) if i >= 0), default=-1)
        if begin < 0:
            continue
        try:
            body = json.loads(lines[at][begin:])
        except ValueError:
            continue
        ending = lines[at][len(lines[at].rstrip(b"\r\n")):]
        yield b"".join(lines[:at]) + lines[at][:begin], body, ending + b"".join(lines[at + 1:])


def _places(body: Any) -> Iterator[Place]:
    """Every member of a document, at every depth."""
    if not isinstance(body, dict | list):
        return
    for name, value in list(body.items() if isinstance(body, dict) else enumerate(body)):
        yield body, name
        yield from _places(value)


TEXT_DAMAGES: dict[str, tuple[TextDamage, float]] = {
    "truncated": (truncated, 3),
    "one byte flipped": (one_byte_flipped, 3),
    "zeros appended": (zeros_appended, 1),
    "zeros instead": (zeros_instead, 1),
    "emptied": (emptied, 0.3),
    "a byte order mark": (byte_order_mark, 1),
    "another encoding": (in_another_encoding, 0.5),
    "carriage returns": (carriage_returns, 1),
    "stray bytes": (stray_bytes, 2),
    "twice": (twice, 0.5),
    "a line lost": (line_lost, 1),
    "a line doubled": (line_doubled, 1),
    "a value replaced": (value_replaced, 8),
    "a member lost": (member_lost, 3),
    "a member twice": (member_twice, 3),
    "a member renamed": (member_renamed, 1),
    "values swapped": (values_swapped, 2),
}
"""By name, and how often."""


def damaged_text(dice: Random, content: bytes) -> tuple[str, bytes]:
    """One damage that changes the bytes: its name, and what they are then."""
    while True:
        (name,) = dice.choices(list(TEXT_DAMAGES), [weight for _, weight in TEXT_DAMAGES.values()])
        changed = TEXT_DAMAGES[name][0](dice, content)
        if changed != content:
            return name, changed
