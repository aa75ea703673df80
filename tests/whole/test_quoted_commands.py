"""Commands that messages print can be pasted into a shell: their values are quoted.

A journal lies where the operator or a CI server put it, as in `/var/jobs/Orders nightly/j.jsonl`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tests.support.sources import FILES, nodes, where

QUOTING = {"quote", "join", "command_line"}
HARMLESS = {
    "commands/write_requests.py: more": "a word of our own",
    "commands/undo.py: word": "quoted by Journals.word_for",
    "commands/repair_from_file.py: word": "quoted by Journals.word_for",
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
