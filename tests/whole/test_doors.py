"""The `__init__` of each room names what the other rooms import, and where to begin reading."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tests.support.sources import FILES, PACKAGE, nodes

ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
HERE = "what this file names"


def module_of(path: Path) -> str:
    return ".".join(path.with_suffix("").relative_to(PACKAGE).parts).removesuffix(".__init__")


MODULES = {module_of(path) for path in FILES}


@cache
def imported_from_outside() -> dict[str, set[str]]:
    """The files of each room that another room imports, inside of functions too."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in FILES:
        room = path.relative_to(PACKAGE).parts[0]
        if path.parent == PACKAGE:  # the Python API, for users
            continue
        for node in nodes(path):
            if not isinstance(node, ast.ImportFrom):
                continue
            package, _, module = (node.module or "").partition(".")
            if package != "reshardctl" or not module:
                continue
            for alias in node.names:
                name = f"{module}.{alias.name}" if f"{module}.{alias.name}" in MODULES else module
                other, _, inside = name.partition(".")
                if other in ROOMS and other != room:
                    found[other].add(inside or HERE)
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_door_names_what_is_imported_through_it(room: str) -> None:
    text = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text("utf-8"))) or ""
    sentence = re.search(r"(?:Other rooms import (.*?)|No other room imports it)\. Read `(\S+)`",
                         " ".join(text.split()))
    assert sentence, "say 'Other rooms import …. Read `…` first.'"
    named = set(re.findall(r"`([\w.]+)`", sentence[1] or ""))
    if HERE in (sentence[1] or ""):
        named.add(HERE)
    assert named == imported_from_outside()[room]
    assert f"{room}.{sentence[2]}" in MODULES, "what is to be read first does not exist"
