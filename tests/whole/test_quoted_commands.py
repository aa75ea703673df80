"""Commands that messages print can be pasted into a shell: their values are quoted.

A journal lies where the operator or a CI server put it, as in `/var/jobs/Orders nightly/j.jsonl`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import reshardctl

ROOT = Path(reshardctl.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if "testing" not in path.parts)
QUOTING = {"quote", "join", "command_line"}
HARMLESS = {
    "commands/write_requests.py: more": "a word of our own",
    "commands/undo.py: word": "quoted by Journals.word_for",
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_value_in_a_command_is_quoted(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    name = path.relative_to(ROOT).as_posix()
    bare = {f"{name}: {value}" for text in texts for value in _bare(text, tree)}
    assert bare - HARMLESS.keys() == set()


def _bare(text: ast.JoinedStr, tree: ast.Module) -> Iterator[str]:
    before = ""
    for part in text.values:
        if isinstance(part, ast.Constant):
            before += str(part.value)
        elif isinstance(part, ast.FormattedValue):
            if _COMMAND.search(before) and not _quoted(part.value, tree):
                yield ast.unparse(part.value)
            before += "x"


def _quoted(value: ast.expr, tree: ast.Module) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in QUOTING
    made = [
        node.value for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(value) in map(ast.unparse, node.targets)
    ]
    return bool(made) and all(isinstance(each, ast.Call) and _quoted(each, tree) for each in made)
