"""The arrows: who may import what, who may touch the world, and how big a file may grow.

Read from the sources, not by importing: an import inside a function counts as well.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from reshardctl.consumers.locator import SPECS
from reshardctl.consumers.registry import CONSUMERS
from reshardctl.diagnosis.rules import RULES
from tests.support.sources import FILES, PACKAGE, nodes, where

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
TOOLS = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]
(LAYERS,) = [
    [[unit.strip() for unit in row.split("|")] for row in contract["layers"]]
    for contract in TOOLS["importlinter"]["contracts"] if contract["type"] == "layers"
]
"""Topmost first."""
UNITS = {unit for row in LAYERS for unit in row}
PURE = {
    "auditing", "codec", "consumers", "diagnosis", "errors", "exit", "given_secrets", "lineage",
    "model", "planning", "report",
}  # fmt: skip
"""No I/O, no clock, no randomness."""

ONLY_IN = {
    "moto": {"demo"},
    "hypothesis": set(),
    "pytest": set(),
    "networkx": {"lineage/explore.py", "render/graph/export.py"},
    "psycopg": {"stores/sql"},
    "pymysql": {"stores/sql"},
    "redis": {"stores/redis.py"},
    "pickle": set(),
}
WORLD = {
    "time", "random", "secrets", "uuid", "os", "sys", "io", "socket", "subprocess", "tempfile",
    "shutil", "threading", "asyncio", "signal", "logging", "urllib.request", "http", "glob",
    "fcntl", "getpass", "platform", "locale",
}  # fmt: skip
"""Modules by which a program meets the world."""
WORLDLY_CALLS = {
    "open", "input", "print", "eval", "exec", "now", "utcnow", "today", "read_text", "write_text",
    "read_bytes", "write_bytes", "getenv", "hash", "id",
}  # fmt: skip
"""Calls by which pure code would stop being so; `hash` and `id` differ from run to run."""
PURE_EXCEPTIONS = {"diagnosis/rules/base.py": {"read_text"}, "model/cuts.py": {"hash"}}
"""The pages of rules are part of the package; a cut's hash is of numbers, so it is always the same.
"""


def unit(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> Iterator[str]:
    """Dotted names of the modules that a file imports, anywhere in it; types only as well."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{where(path)}: a relative import"
            module = node.module or ""
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def own(path: Path) -> set[str]:
    """Which units of the package a file imports."""
    parts = [name.split(".") for name in imports(path) if name.startswith("reshardctl.")]
    return {name[1] for name in parts} & UNITS - {unit(path)}


def allowed(path: Path, places: set[str]) -> bool:
    return any(where(path) == p or where(path).startswith(f"{p}/") for p in places)


def found(wrong: dict[str, set[str]]) -> dict[str, set[str]]:
    """The files of which something is said, all of them at once."""
    return {name: said for name, said in wrong.items() if said}


def test_every_import_keeps_the_contracts(capsys):
    """The layers, the independence of the consumers, and which library is used where."""
    kept = lint_imports(config_filename=str(PYPROJECT), no_cache=True, is_debug_mode=False) == 0
    assert kept, capsys.readouterr().out


def test_the_package_itself_imports_nothing_of_its_own():
    assert own(PACKAGE / "__init__.py") == set()


def test_who_may_use_what():
    def misused(path: Path) -> Iterator[str]:
        for name in imports(path):
            places = ONLY_IN.get(name.split(".")[0])
            if places is not None and not allowed(path, places):
                yield name

    assert not found({where(path): set(misused(path)) for path in FILES})


PURE_PATHS = ("render/graph/", "render/content/explanation.py")
ALSO_PURE = [path for path in FILES if where(path).startswith(PURE_PATHS)]


def met(path: Path) -> Iterator[str]:
    """By what name a file meets the world."""
    yield from (n for n in imports(path) if n in WORLD or n.split(".")[0] in WORLD)
    for node in nodes(path):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in WORLDLY_CALLS:
                yield called.id
            if isinstance(called, ast.Attribute) and called.attr in WORLDLY_CALLS - {"id", "hash"}:
                yield called.attr


def test_below_the_line_nothing_meets_the_world():
    pure = [*(p for p in FILES if unit(p) in PURE), *ALSO_PURE]
    assert len(pure) > len(PURE)
    assert not found({
        where(path): set(met(path)) - PURE_EXCEPTIONS.get(where(path), set()) for path in pure
    })


def test_pure_code_imports_pure_code_only():
    """What is below the line stays below it, through whatever it imports."""
    for path in FILES:
        if unit(path) in PURE:
            assert own(path) <= PURE, f"{where(path)}: {own(path) - PURE}"


def test_files_stay_small():
    lines = {where(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: count for name, count in lines.items() if count > 450} == {}


WORKING = {
    "consumers/kcl/behaviour.py": {"_Lease"},
    "consumers/kinesis_consumer/encode.py": {"_Orders"},
    "stores/dynamodb/store.py": {"_Placeholders"},
}
"""Classes that one function fills."""


def thawed(path: Path) -> Iterator[str]:
    """The Structs and dataclasses of a file that may be changed after they are made."""
    for node in nodes(path):
        if isinstance(node, ast.ClassDef):
            said = {*map(ast.unparse, (*node.decorator_list, *node.bases))}
            frozen = [*map(ast.unparse, (*node.decorator_list, *node.keywords))]
            if any(d.startswith(("dataclass", "Struct")) for d in said) and not any(
                "frozen=True" in f for f in frozen
            ):
                yield node.name


def test_values_are_frozen():
    rooms = PURE | {"execution", "journal", "snapshot", "stores"}
    assert found({where(p): set(thawed(p)) for p in FILES if unit(p) in rooms}) == WORKING


def test_functions_stay_small():
    """Lines of the body: a verb's signature is its options, declared one a line."""
    assert not found({
        where(path): {
            node.name for node in nodes(path)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.body[0].lineno + 1 > 60
        }
        for path in FILES
    })  # fmt: skip


EMPTY_WORDS = ("manager", "helper", "utils", "handler")


def test_no_name_that_says_nothing():
    def named(path: Path) -> Iterator[str]:
        yield path.stem
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name

    assert not found({
        where(path): {n for n in named(path) if any(word in n.lower() for word in EMPTY_WORDS)}
        for path in FILES
    })


def test_every_rule_is_registered():
    written = {p.stem for p in (PACKAGE / "diagnosis/rules/pages").iterdir()}
    assert [rule.code for rule in RULES] == sorted(written), (
        "each rule has a page in reshardctl/diagnosis/rules/pages, and its family is loaded in "
        "reshardctl/diagnosis/rules/__init__.py; see docs/extending.md"
    )


def test_every_consumer_is_registered():
    found = (PACKAGE / "consumers").glob("*/__init__.py")
    folders = {p.parent.name.replace("_", "-") for p in found}
    assert set(CONSUMERS) == set(SPECS) == folders
    assert {name: consumer.spec for name, consumer in CONSUMERS.items()} == SPECS
    (apart,) = [
        contract["modules"] for contract in TOOLS["importlinter"]["contracts"]
        if contract["type"] == "independence"
    ]
    assert {name.rpartition(".")[2].replace("_", "-") for name in apart} == folders, (
        "name the new folder in the contract 'No consumer knows another' of pyproject.toml"
    )


def compared(path: Path) -> Iterator[str]:
    """Names of consumers that a file compares with, looks up or matches."""
    for node in nodes(path):
        keys: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            keys = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            keys = list(node.keys)
        elif isinstance(node, ast.Subscript):
            keys = [node.slice]
        elif isinstance(node, ast.MatchValue):
            keys = [node.value]
        inside = (
            part for key in keys if key is not None
            for part in (key.elts if isinstance(key, ast.Tuple | ast.List | ast.Set) else [key])
        )
        for part in inside:
            if isinstance(part, ast.Constant) and part.value in SPECS:
                yield str(part.value)


NAMED_OTHERWISE: dict[str, set[str]] = {}
"""File → names in it that are the same as a consumer's and about something else."""


def test_no_other_room_asks_for_a_consumer_by_name():
    """What differs between libraries is a field of its Spec or a method of its BaseConsumer."""
    assert found({
        where(path): set(compared(path)) for path in FILES if unit(path) != "consumers"
    }) == NAMED_OTHERWISE


HEAVY = {
    "boto3", "botocore", "msgspec", "networkx", "rich", "moto", "reshardctl.kinesis",
    "reshardctl.render.document", "reshardctl.lineage", "reshardctl.consumers",
}  # fmt: skip


@pytest.mark.parametrize("words", [["--help"], ["fix", "--help"], ["--version"]], ids=" ".join)
def test_help_loads_nothing_heavy(words):
    """What takes time to load is loaded by the verb that needs it."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "reshardctl", *words],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    loaded = {line.rpartition("|")[2].strip() for line in lines}
    assert "typer" in loaded and not HEAVY & loaded


NOT_LOADED = {
    "from reshardctl.cli.app import run; run(['rule', 'RSH203'])": "boto3 botocore networkx",
    # A name is loaded when it is used: `reshardctl --help` is not to wait for the use cases.
    "import reshardctl": "reshardctl.",
    "from reshardctl import audit, fix, inspect, plan, rebuild, status, undo":
        "reshardctl.console typer rich",
    "import reshardctl.render": "rich",
    "import reshardctl.spark.source": "pyspark pyarrow boto3 botocore",
}  # fmt: skip
"""What is run → what none of the modules that it loads begins with."""


@pytest.mark.parametrize("code", NOT_LOADED)
def test_what_is_not_used_is_not_loaded(code):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules, file=sys.stderr)"],
        capture_output=True, text=True, check=True, timeout=120,
    )
    loaded = done.stderr.split()
    assert "reshardctl" in loaded
    assert [name for name in loaded if name.startswith(tuple(NOT_LOADED[code].split()))] == []
