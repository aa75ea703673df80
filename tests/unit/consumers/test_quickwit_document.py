"""Quickwit's texts as rows: only the places of positions change, and what is refused.

What both releases accept, refuse and write was seen on their real metastores, November 2026. JSON
(RFC 8259, section 7) lets any character of a name be escaped; serde_json reads such names.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.consumers.quickwit import splice
from reshardctl.consumers.quickwit.document import (
    FILE,
    PRESENT,
    ROW,
    Document,
    is_file_of_an_index,
)
from reshardctl.consumers.quickwit.splice import Member, edited, members
from reshardctl.errors import UsageError
from reshardctl.model import Create, Delete, Update, Write

GOLDEN = Path(__file__).parents[2] / "golden" / "quickwit"
FILES = sorted(GOLDEN.glob("*/*/metastore/*/metastore.json"))
CODEC = Document(needed=False)
SOURCE = "events/kinesis-events"


def shard(number: int) -> str:
    return f"shardId-{number:012d}"


def golden(state: str, release: str = "0.9.0", index: str = "events") -> str:
    path = GOLDEN / release / state / "metastore" / index / "metastore.json"
    return path.read_bytes().decode()


def put(number: int, text: str, source: str = SOURCE) -> Write:
    return Write(f"{source}/{shard(number)}", Create({"position": {"S": text}}), None, "")


def move(number: int, text: str, source: str = SOURCE) -> Write:
    return Write(f"{source}/{shard(number)}", Update({"position": {"S": text}}), None, "")


def drop(number: int, source: str = SOURCE) -> Write:
    return Write(f"{source}/{shard(number)}", Delete(), None, "")


KEY_IN = Write(SOURCE, Update({"checkpoint": PRESENT}), None, "")
KEY_OUT = Write(SOURCE, Update({}, ("checkpoint",)), None, "")


def printed(text: str) -> str:
    """As serde_json's pretty printer has it: two blanks, raw UTF-8, no newline at the end."""
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False)


@pytest.mark.parametrize("path", FILES, ids=lambda p: "-".join(p.parts[-5:-1]))
def test_rows_are_what_json_says(path):
    text = path.read_bytes().decode()
    index = json.loads(text)["index"]
    rows = {row.key: row.attributes for row in CODEC.images(text)}
    wanted = {
        f"{path.parent.name}/{source['source_id']}/{name}": {"position": {"S": position}}
        for source in index["sources"] if source["source_type"] == "kinesis"
        for name, position in index["checkpoint"].get(source["source_id"], {}).items()
    }
    assert {key: row for key, row in rows.items() if key.count("/") == 2} == wanted
    sources = {key: row for key, row in rows.items() if key.count("/") == 1}
    for key, row in sources.items():
        assert ("checkpoint" in row) == (key.split("/")[1] in index["checkpoint"])
        assert row["index_uid"] == {"S": index["index_uid"]}
        assert row["version"] == {"S": index["version"]}


EDITS = [
    [move(0, "~1")], [put(2, "1")], [put(2, "1"), put(3, "2")], [drop(0)], [drop(1)],
    [drop(0), drop(1)], [drop(0), move(1, ""), put(2, "5")],
]


@pytest.mark.parametrize("writes", EDITS, ids=range(len(EDITS)))
@pytest.mark.parametrize("release", ["0.9.0", "0.8.2"])
def test_an_edit_is_what_quickwit_itself_would_write_there(writes, release):
    """Its own file is its pretty printer's output: so is ours, with the map sorted by bytes."""
    text = golden("q2", release)
    assert printed(text) == text, "the real metastore printed it that way"
    wanted = json.loads(text)
    positions = wanted["index"]["checkpoint"]["kinesis-events"]
    for write in writes:
        name = write.key.rpartition("/")[2]
        if isinstance(write.change, Delete):
            del positions[name]
        else:
            held = getattr(write.change, "attributes", None) or write.change.set
            positions[name] = held["position"]["S"]
    wanted["index"]["checkpoint"]["kinesis-events"] = dict(sorted(positions.items()))
    assert CODEC.written(text, writes) == json.dumps(wanted, indent=2, ensure_ascii=False)


BACK = [
    ([move(0, "1")], lambda old: [move(0, old[shard(0)])]),
    ([put(2, "1"), put(3, "2")], lambda _: [drop(2), drop(3)]),
    ([drop(0)], lambda old: [put(0, old[shard(0)])]),
    ([drop(0), drop(1)], lambda old: [put(0, old[shard(0)]), put(1, old[shard(1)])]),
]


def as_it_is(text: str) -> str:
    return text


def packed(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)


def windows(text: str) -> str:
    return text.replace("\n", "\r\n")


def tabs(text: str) -> str:
    return json.dumps(json.loads(text), indent="\t", ensure_ascii=False)


def newline(text: str) -> str:
    return text + "\n"


@pytest.mark.parametrize("layout", [as_it_is, packed, windows, tabs, newline])
@pytest.mark.parametrize(("there", "back"), BACK, ids=["move", "create", "delete", "delete all"])
def test_what_is_taken_back_is_as_it_was_byte_for_byte(there, back, layout):
    text = layout(golden("q2"))
    old = json.loads(text)["index"]["checkpoint"]["kinesis-events"]
    edited = CODEC.written(text, there)
    assert edited != text
    json.loads(edited)
    assert CODEC.written(edited, back(old)) == text


@pytest.mark.parametrize("layout", [as_it_is, packed, windows, tabs])
def test_a_key_goes_in_and_out_again(layout):
    text = layout(golden("q5"))
    edited = CODEC.written(text, [KEY_IN])
    assert json.loads(edited)["index"]["checkpoint"] == {"kinesis-events": {}}
    assert CODEC.written(edited, [KEY_OUT]) == text
    both = CODEC.written(text, [KEY_IN, put(0, "1")])
    assert json.loads(both)["index"]["checkpoint"] == {"kinesis-events": {shard(0): "1"}}


def test_a_key_goes_in_sorted_by_bytes_between_the_others():
    text = golden("q6", index="logs")
    without = CODEC.written(text, [Write(
        "logs/kinesis-clicks", Update({}, ("checkpoint",)), None, ""
    )])
    assert "kinesis-clicks" not in json.loads(without)["index"]["checkpoint"]
    again = CODEC.written(without, [
        Write("logs/kinesis-clicks", Update({"checkpoint": PRESENT}), None, ""),
        *(put(0, position, "logs/kinesis-clicks")
          for position in json.loads(text)["index"]["checkpoint"]["kinesis-clicks"].values()),
    ])
    assert again == text


def test_two_sources_of_one_index_in_one_step():
    text = golden("q6", index="logs")
    edited = CODEC.written(
        text, [move(0, "7", "logs/kinesis-clicks"), put(3, "8", "logs/kinesis-events")]
    )
    found = json.loads(edited)["index"]["checkpoint"]
    assert found["kinesis-clicks"] == {shard(0): "7"}
    assert found["kinesis-events"][shard(3)] == "8"
    rest = json.loads(edited)
    rest["index"]["checkpoint"] = json.loads(text)["index"]["checkpoint"]
    assert rest == json.loads(text)


@pytest.mark.parametrize("raw", ["é\u2028/", 'a"b\\c', "\x01\x1f\n\t", "😀"])
def test_any_position_is_spelled_as_serde_json_does(raw):
    edited = CODEC.written(golden("q2"), [move(0, raw)])
    positions = json.loads(edited)["index"]["checkpoint"]["kinesis-events"]
    assert positions[shard(0)] == raw
    assert printed(edited) == edited


def test_names_that_are_escaped_are_the_same_names():
    text = golden("q2").replace('"shardId-000000000001"', '"shardId\\u002d000000000001"')
    keys = [row.key for row in CODEC.images(text)]
    assert f"{SOURCE}/{shard(1)}" in keys
    assert "\\u002d000000000001\": \"9\"" in CODEC.written(text, [move(1, "9")])


def row_of(state: str) -> str:
    """The row that PostgreSQL holds: the same object without the file around it, packed."""
    return json.dumps(json.loads(golden(state))["index"], separators=(",", ":"), ensure_ascii=False)


def test_a_row_of_postgresql_is_spliced_the_same_way():
    codec, text = Document(ROW), row_of("q2")
    assert [row.key for row in codec.images(text)] == [
        SOURCE, f"{SOURCE}/{shard(0)}", f"{SOURCE}/{shard(1)}"
    ]
    edited = codec.written(text, [put(2, "1"), move(0, "2")])
    positions = json.loads(edited)["checkpoint"]["kinesis-events"]
    assert list(positions) == [shard(0), shard(1), shard(2)] and positions[shard(0)] == "2"
    assert packed(edited) == edited
    assert codec.identity(text) == {"index_uid": json.loads(text)["index_uid"]}


@pytest.mark.parametrize(("content", "is_one"), [
    (golden("q2").encode(), True), (golden("q2").encode()[:-9], True), (b'{"index": {}}', True),
    (b"{", False), (b"[]", False), (b"\xff", False),
])  # fmt: skip
def test_a_damaged_file_of_an_index_is_still_one(content, is_one):
    assert is_file_of_an_index(content) is is_one


def test_a_source_that_does_not_read_kinesis_is_told_by_its_type():
    whole = json.loads(golden("q2"))
    whole["index"]["sources"][0] |= {"source_type": "kafka", "params": {"topic": "t"}}
    with pytest.raises(UsageError, match="kinesis-events of index events reads kafka, not kinesis"):
        Document(source="kinesis-events").images(json.dumps(whole))


def test_a_file_is_no_row_and_a_row_no_file():
    with pytest.raises(UsageError, match="index_uid"):
        Document(ROW).images(golden("q2"))
    with pytest.raises(UsageError, match="`index`"):
        Document(FILE).images(row_of("q2"))


@pytest.mark.parametrize(("text", "why"), [
    ("\ufeff{}", "byte order mark"), ('{"version": "0.9"} x', "text after the end"),
    ('{"a": 1, "a": 1}', "twice"), ("", "no JSON object"), ("[]", "no JSON object"),
    ("null", "no JSON object"),
    ("{", "malformed JSON at line 1"), ('{"version": "0.9"', "malformed JSON"),
    ('{"version": "0.9",}', "comma"), ('{"version" "0.9"}', "colon"),
    ("{version: 1}", "in quotes"), ('{"a": [1, 2}', "end of a list"), ('{"a": [1,]}', "JSON"),
    ('{"a": Infinity}', "Infinity"), ('{"a": "\n"}', "malformed JSON at line 1"),
    ('{"version": "0.10"}', "0.10"), ('{"version": 9}', "another type"),
    ("{" + '"a":{' * 100_000, "nested too deeply"), ('{"a": "\\ud83d"}', "surrogate"),
])  # fmt: skip
def test_texts_that_are_nothing(text, why):
    with pytest.raises(UsageError) as caught:
        CODEC.images(text)
    assert why in caught.value.what


@pytest.mark.parametrize(
    "write",
    [
        Write(SOURCE, Delete(), None, ""),
        Write(SOURCE, Update({"enabled": {"BOOL": False}}), None, ""),
        Write(SOURCE, Update({}, ("backfill",)), None, ""),
        Write(f"{SOURCE}/x", Create({"position": {"S": "1"}, "more": {"S": "2"}}), None, ""),
        Write(f"{SOURCE}/x", Update({}, ("position",)), None, ""),
        Write("events/ghost/x", Create({"position": {"S": "1"}}), None, ""),
    ],
    ids=[
        "source deleted", "configuration", "less of it", "more than a position", "removed", "ghost",
    ],
)
def test_nothing_else_can_be_written(write):
    with pytest.raises(UsageError):
        CODEC.written(golden("q2"), [write])


def test_nothing_is_written_into_a_text_that_quickwit_does_not_load():
    """It may have been broken since it was read; Quickwit has to be able to load what is there."""
    whole = json.loads(golden("q2"))
    whole["index"]["checkpoint"]["_ingest-source"] = None
    with pytest.raises(UsageError, match="`_ingest-source`"):
        CODEC.written(json.dumps(whole), [put(2, "1")])


@pytest.mark.parametrize("release", ["0.9.0", "0.8.2"])
@pytest.mark.parametrize("layout", [FILE, ROW], ids=["file", "row"])
@pytest.mark.parametrize("named", ["logs", None, 5])
def test_a_configuration_of_another_index_is_refused(named, layout, release):
    """`fetch_index` (`store_operations.rs:58` of both releases) compares `index_config.index_id`
    with the folder's name: "inconsistent manifest: index_id mismatch"."""
    whole = json.loads(golden("q2", release))
    whole["index"]["index_config"]["index_id"] = named
    text = json.dumps(whole if layout is FILE else whole["index"])
    with pytest.raises(UsageError, match=r"`index_config.index_id`"):
        Document(layout, "events").images(text)


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
