"""Errors say what to do next, but for what the operator ended, and the defects of this tool; and
commands that messages print can be pasted into a shell: their values are quoted.

A journal lies where the operator or a CI server put it, as in `/var/jobs/Orders nightly/j.jsonl`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import pytest

from reshardctl import errors
from reshardctl.codec.strict import JsonPath
from reshardctl.errors import UsageError
from tests.support.sources import FILES, PACKAGE, nodes, where

ONE_LINE = PACKAGE / "console" / "failures.py"
"""What is wrong with stdout is said in one line."""
ENDED = {"Cancelled", "NotConfirmed"}
"""The operator said no, or pressed Ctrl-C."""
DEFECT = {"ReshardError"}
ERRORS = {name for name, kind in vars(errors).items() if isinstance(kind, type)} | {"Denied"}


def mute(names: set[str], arguments: int) -> Iterator[str]:
    """The calls of these names with fewer arguments than that, and none called `next`."""
    for path in FILES:
        if path == ONE_LINE or "demo" in path.parts:
            continue
        for call in nodes(path):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            named = any(keyword.arg == "next" for keyword in call.keywords)
            if call.func.id in names and len(call.args) < arguments and not named:
                yield f"{where(path)}:{call.lineno}"


def test_every_error_has_a_next_step() -> None:
    assert [*mute(ERRORS - ENDED - DEFECT, 2)] == []


def test_every_file_that_is_read_strictly_has_a_next_step() -> None:
    """`JsonPath.wrong` takes it from the path where it is not given one of its own."""
    assert [*mute({"JsonPath"}, 4)] == []


def test_a_place_in_a_file_leads_on_as_the_file_does() -> None:
    with pytest.raises(UsageError) as caught:
        (JsonPath("a.plan", next="make a new one") / "steps" / 0).wrong("not an object")
    assert (caught.value.what, caught.value.next) == ("a.plan: steps[0]: not an object",
                                                      "make a new one")


QUOTING = {"quote", "join", "command_line"}
HARMLESS = {
    "commands/write_requests.py: more": "a word of our own",
    "console/destinations.py: name": "a format",
    "errors.py: extra": "a word of our own",
    "kinesis/listing.py: target.option": "quoted by Target.option",
    "kinesis/transport.py: target.option": "quoted by Target.option",
    "spark/source/latest.py: lineage.stream.name": "a name of letters, digits, . - and _",
    "spark/source/losses.py: stream": "a stream's name",
    "spark/source/losses.py: lineage.stream.name": "a stream's name",
    "stores/files/local.py: self._absent": "words behind the command",
}
_COMMAND = re.compile(
    r"(?:^|[:,;] |or |shows |# )(?:reshardctl|aws|chmod|chown|cp|df|hadoop|ls|mkdir|pip|quickwit)"
    r" [a-z-]+ ?(?!.*[;:#] ?\Z)[^;#]*\Z"
)


def test_every_value_in_a_command_is_quoted() -> None:
    bare = {
        f"{where(path)}: {value}" for path in FILES if "testing" not in path.parts
        for text in nodes(path) if isinstance(text, ast.JoinedStr)
        for value in _bare(text, nodes(path))
    }
    assert bare == HARMLESS.keys()


def _bare(text: ast.JoinedStr, file: Sequence[ast.AST]) -> Iterator[str]:
    before = ""
    for part in text.values:
        if isinstance(part, ast.Constant):
            before += str(part.value)
        elif isinstance(part, ast.FormattedValue):
            if _COMMAND.search(before) and not _quoted(part.value, file):
                yield ast.unparse(part.value)
            before += "x"


def _quoted(value: ast.expr, file: Sequence[ast.AST]) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in QUOTING
    made = [
        node.value for node in file
        if isinstance(node, ast.Assign) and ast.unparse(value) in map(ast.unparse, node.targets)
    ]
    return bool(made) and all(isinstance(each, ast.Call) and _quoted(each, file) for each in made)


_OF_A_CONSUMER = r"(?<!`)reshardctl (?:fix|inspect|status|explain|snapshot|export|rebuild) "
_INCOMPLETE = re.compile(
    _OF_A_CONSUMER + r"(?:CONSUMER(?! --stream STREAM| --shards FILE)|--(?!plan |resume |config ))"
)


def test_a_command_with_places_to_fill_in_has_one_for_consumer_and_stream() -> None:
    """Without either it ends with `missing argument` or `which stream?` (exit 2)."""
    texts = {
        f"{where(path)}: {text.value}" for path in FILES for text in nodes(path)
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
        and _INCOMPLETE.search(text.value)
    }
    assert texts == set()
