"""Line numbers of TOML keys, against documents whose lines are counted while they are written.

What the keys mean is tomllib's word: an index that names other keys than it read is wrong.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reshardctl.config.sourced import lines

BARE = st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True)
KEYS = BARE | st.sampled_from(['"a.b"', "'c # d'", '"e\\"]"', '"[f]"', '""'])
VALUES = st.sampled_from([
    "1", "true", '"x"', '"a # b"', '"\\"]["', "'[x]'", "2026-12-31", "2026-12-31T09:14:00Z",
    "[1, 2]", '[\n  "a",  # b ]\n  "c",\n]', '"""\n[not.a]\nkey = "header"\n"""',
    '"""a "quoted" \\""""', "'''\n[x]\n''it''s'''", "{ a = 1, b.c = [2, 3] }", '{ "]" = "}" }',
])  # fmt: skip
COMMENTS = st.sampled_from(["", "  # a = 1", "\n\n# [t]\n   "])


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[tuple[str | int, ...], int]]:
    """A document, and the line of every table and key that is written out in it."""
    text = ""
    wanted: dict[tuple[str | int, ...], int] = {}
    used: set[str] = set()
    arrays: dict[str, int] = {}

    def line() -> int:
        return text.count("\n") + 1

    for _ in range(draw(st.integers(0, 4))):
        name = draw(KEYS)
        if name in used and name not in arrays:
            continue
        path: tuple[str | int, ...] = (_plain(name),)
        if name in arrays or (name not in used and draw(st.booleans())):
            wanted.setdefault(path, line())
            path += (arrays.get(name, 0),)
            arrays[name] = arrays.get(name, 0) + 1
            header = f"[[{name}]]"
        else:
            header = f"[ {name} ]" if draw(st.booleans()) else f"[{name}]"
        used.add(name)
        wanted[path] = line()
        text += header + draw(COMMENTS).replace("\n   ", "\n") + "\n"
        for key in draw(st.lists(KEYS, max_size=4, unique_by=_plain)):
            text += draw(st.sampled_from(["", "  "]))
            wanted[(*path, _plain(key))] = line()
            text += f"{key} = {draw(VALUES)}{draw(st.sampled_from(['', '  # note']))}\n"
    return text, wanted


def _plain(key: str) -> str:
    return next(iter(tomllib.loads(f"{key} = 1")))


def paths(value: Any, inside: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Tables, keys and elements of arrays of tables; nothing within a value."""
    for key, one in value.items():
        yield (*inside, key)
        if len(inside) < 1 and isinstance(one, dict):
            yield from ((*inside, key, k) for k in one)
        elif len(inside) < 1 and isinstance(one, list):
            for place, element in enumerate(one):
                yield (*inside, key, place)
                yield from ((*inside, key, place, k) for k in element)


@given(documents())
def test_every_key_on_its_line(document):
    text, wanted = document
    assert lines(text) == wanted
    assert set(lines(text)) == set(paths(tomllib.loads(text)))


def test_dotted_keys_and_tables_in_arrays():
    text = 'a.b . "c" = 1\na.d = 2\n[[t]]\n[t.u]\nk = 1\n[[t]]\n[[t.v]]\nk = 1\n[[t.v]]\n'
    assert lines(text) == {
        ("a",): 1, ("a", "b"): 1, ("a", "b", "c"): 1, ("a", "d"): 2, ("t",): 3, ("t", 0): 3,
        ("t", 0, "u"): 4, ("t", 0, "u", "k"): 5, ("t", 1): 6, ("t", 1, "v"): 7,
        ("t", 1, "v", 0): 7, ("t", 1, "v", 0, "k"): 8, ("t", 1, "v", 1): 9,
    }  # fmt: skip
