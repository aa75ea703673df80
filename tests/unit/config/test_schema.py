"""The JSON Schema of reshardctl.toml, for editors: it takes what the reader takes.

A date and a time of TOML are strings in JSON Schema, as RFC 3339 writes them.
"""

from __future__ import annotations

import json
import tomllib
from datetime import date, datetime
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from reshardctl.config import reading
from reshardctl.config.entries import SERVICES
from tests.whole.docs.pages import BLOCK, PAGES

FILE = files("reshardctl.config").joinpath("reshardctl.schema.json")
SCHEMA = json.loads(FILE.read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
TABLES = {"defaults", "streams", "consumers", "suppress"}
EXAMPLES = [
    text for page in PAGES
    for _, language, text in BLOCK.findall(page.read_text("utf-8"))
    if language == "toml" and set(tomllib.loads(text)) & TABLES
]  # fmt: skip
WHOLE = '[streams.orders]\n[consumers.a]\nstream = "orders"\nlocator = "kcl://a"\n'


def as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_json(each) for each in value]
    return value.isoformat() if isinstance(value, date | datetime) else value


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_of_the_pages_is_valid(text: str) -> None:
    VALIDATOR.validate(as_json(tomllib.loads(text)))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2


def test_its_keys_are_those_of_the_reader() -> None:
    """The reader refuses any other key, so a new one has to be written down in both."""
    reach, ours = set(reading._REACH), set(reading._OURS)
    tables = {name: each for name, each in SCHEMA["$defs"].items() if name != "url"}
    assert {name: set(each["properties"]) for name, each in tables.items()} == {
        "stream": {"stream", "created", *reach}, "consumer": {"stream", "locator", *reach, *ours},
        "suppression": {"consumer", "rule", "shards", "until", "why"},
    }  # fmt: skip
    assert set(SCHEMA["properties"]) == TABLES
    assert set(SCHEMA["properties"]["defaults"]["properties"]) == reach | ours
    _, by_service = SCHEMA["$defs"]["stream"]["properties"]["endpoint_url"]["anyOf"]
    assert tuple(by_service["properties"]) == SERVICES


@pytest.mark.parametrize("more", [
    "polcy = 'latest'", 'region = "Frankfurt"', 'role_arn = "reshardctl"',
    'endpoint_url = "ftp://x"', 'endpoint_url = { s4 = "http://x" }', "accept = 3",
    'fail-on = "fatal"', 'probe = "yes"', "watch = 30",
    '[[suppress]]\nconsumer = "a"\nrule = "RSH203"\nuntil = 2026-12-31',
    '[[suppress]]\nconsumer = "a"\nrule = "203"\nwhy = "x"\nuntil = 2026-12-31',
    '[[suppress]]\nconsumer = "a"\nrule = "RSH203"\nwhy = "x"\nuntil = 2026-12-31\nshards = []',
    "[other]",
])  # fmt: skip
def test_what_the_reader_refuses_is_not_valid(more: str) -> None:
    assert VALIDATOR.is_valid(as_json(tomllib.loads(WHOLE)))
    assert not VALIDATOR.is_valid(as_json(tomllib.loads(WHOLE + more)))
