"""Which codes each format of an audit shows, errors and warnings, read as its readers read it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping

CODE = re.compile(r"RSH\d{3}")
GRAVE = ("error", "warning")


def codes_in(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """By the name of the format."""
    assert texts.keys() <= READERS.keys(), f"READERS of {__name__} lacks a new format"
    return {name: READERS[name](text) for name, text in texts.items()}


def _json(text: str) -> set[str]:
    return {f["code"] for f in json.loads(text)["findings"] if f["severity"] in GRAVE}


def _jsonl(text: str) -> set[str]:
    events = [json.loads(line) for line in text.splitlines()]
    return {e["code"] for e in events if e["type"] == "finding" and e["severity"] in GRAVE}


def _sarif(text: str) -> set[str]:
    (run,) = json.loads(text)["runs"]
    return {result["ruleId"] for result in run["results"] if result["level"] in GRAVE}


def _junit(text: str) -> set[str]:
    cases = ET.fromstring(text).iter("testcase")  # noqa: S314
    return {c.attrib["name"].split()[0] for c in cases if c.find("failure") is not None}


def _lines(pattern: str) -> Callable[[str], set[str]]:
    """The code on each line that says how grave it is."""
    found = re.compile(pattern)
    return lambda text: {
        code for line in text.splitlines() if found.search(line) for code in CODE.findall(line)[:1]
    }


READERS: Mapping[str, Callable[[str], set[str]]] = {
    "json": _json, "jsonl": _jsonl, "sarif": _sarif, "junit": _junit,
    "text": _lines(r"\b(error|warning)\s+RSH"),
    "github": _lines(r"^::(error|warning)\b"),
    "markdown": _lines(r"\|\s*(error|warning)\s*\|"),
    "concise": _lines(r"\b(error|warning)\b.*RSH|RSH.*\b(error|warning)\b"),
    "diff": _lines(r"^#.*(\b(error|warning)\b.*RSH|RSH.*\b(error|warning)\b)"),
}
