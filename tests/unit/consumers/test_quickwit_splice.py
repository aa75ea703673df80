"""Editing one object of a JSON text: what comes out is JSON and means what was asked for.

JSON (RFC 8259, section 7) lets any character of a name be escaped; serde_json reads such names.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.consumers.quickwit import splice
from reshardctl.consumers.quickwit.splice import Member, edited, members
from reshardctl.errors import UsageError

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.one_of(st.none(), st.text(max_size=3), st.integers(0, 9))


def holder_in(text: str) -> Member:
    (found,) = members(text, 0, "the document")
    return found


def escaped(name: str) -> str:
    """A name with every character escaped."""
    units = name.encode("utf-16-be")
    pairs = [units[i:i + 2] for i in range(0, len(units), 2)]
    return '"' + "".join(f"\\u{int.from_bytes(pair, 'big'):04x}" for pair in pairs) + '"'


@pytest.mark.parametrize("inside", ["", " ", "\n  "], ids=["packed", "blank", "line"])
@pytest.mark.parametrize("name", ['"per_partition"', '"per\\u005fpartition"', '"\\u0070"'])
@pytest.mark.parametrize("before", ["", "\n  "], ids=["packed", "printed"])
def test_an_empty_object_under_a_name_with_escapes(before, name, inside):
    text = f"{{{before}{name}:{{{inside}}}}}"
    new = edited(text, holder_in(text), {"shardId-0": '"5"'}, "the document")
    assert list(json.loads(new).values()) == [{"shardId-0": "5"}]


@given(
    name=NAMES, old=st.dictionaries(NAMES, VALUES, max_size=3),
    changes=st.dictionaries(NAMES, VALUES, max_size=3),
    indent=st.sampled_from([None, 2, "\t"]), escape=st.booleans(),
)
def test_what_comes_out_means_what_was_asked_for(name, old, changes, indent, escape):
    """`None` takes an entry out; the others are set."""
    text = json.dumps({"X": old}, indent=indent)
    text = text.replace('"X"', escaped(name) if escape else json.dumps(name), 1)
    raw = {key: None if value is None else json.dumps(value) for key, value in changes.items()}
    new = json.loads(edited(text, holder_in(text), raw, "the document"))
    kept = {key: value for key, value in old.items() if key not in changes}
    set_ = {key: value for key, value in changes.items() if value is not None}
    assert new == {name: {**kept, **set_}}


def test_a_text_that_means_something_else_is_never_returned(monkeypatch):
    monkeypatch.setattr(splice, "_spliced", lambda text, *_: text.replace("1", "2"))
    text = '{"a":{"b":1}}'
    with pytest.raises(UsageError, match="nothing was written"):
        edited(text, holder_in(text), {"b": "3"}, "the document")


@pytest.mark.parametrize(("text", "at"), [
    (r'"\ud800"', 1), (r'["a", "\uD83D"]', 7), (r'"\udc00"', 1), (r'"\ud800\n"', 1),
    (r'"\ud83d\ude00"', None), (r'"\u00e9"', None),
])  # fmt: skip
def test_where_half_a_surrogate_pair_stands(text: str, at: int | None) -> None:
    """RFC 8259, section 7: a character beyond the Basic Multilingual Plane is two escapes."""
    assert splice.lone_surrogate(text) == at
