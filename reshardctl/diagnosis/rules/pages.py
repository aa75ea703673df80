"""Rules' documentation pages, the files in `pages/`, parsed into sections.

A page is plain text. Its first line is a one-sentence summary; each section has a heading of one
line, underlined with as many dashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from msgspec import Struct

from reshardctl.diagnosis.rules import RULES, Rule
from reshardctl.errors import UsageError
from reshardctl.model.phrases import did_you_mean

SECTIONS = (
    "What it is",
    "Effect",
    "Cause",
    "Fix",
    "Not offered",
    "Example",
    "Reported",
)
"""The sections of every page, in this order."""


class Section(Struct, frozen=True):
    """One part of a page. text: its lines, without blank ones around them."""

    title: str
    text: str


class Page(Struct, frozen=True):
    """One rule, explained. summary: one sentence."""

    code: str
    name: str
    summary: str
    sections: tuple[Section, ...]


def find(wanted: str) -> Rule[Any]:
    """The rule of that code or name, in any case; raises UsageError with a similar name."""
    spelled = wanted.strip().casefold()
    for rule in RULES:
        if spelled in (rule.code.casefold(), rule.name):
            return rule
    known = [name for rule in RULES for name in (rule.code, rule.name)]
    advice = did_you_mean(spelled, known, "reshardctl rule   # lists all of them")
    raise UsageError(f"no rule is called {wanted!r}", advice)


def page_of(rule: Rule[Any]) -> Page:
    """A rule's page in parts."""
    return parsed(rule.code, rule.name, rule.page)


def parsed(code: str, name: str, text: str) -> Page:
    """A rule's page in parts; raises ValueError for one with other sections than `SECTIONS`."""
    lines = text.strip().splitlines()
    starts = [i for i, line in enumerate(lines[1:]) if _underlines(line, lines[i])]
    sections = tuple(_sections(lines, starts))
    if tuple(section.title for section in sections) != SECTIONS:
        raise ValueError(f"{code}: its page has not the sections {', '.join(SECTIONS)}")
    if "\n".join(lines[1 : starts[0]]).strip():
        raise ValueError(f"{code}: its summary is not one line")
    return Page(code, name, lines[0], sections)


@cache
def pages() -> tuple[Page, ...]:
    """Every page, in the order of the codes."""
    return tuple(page_of(rule) for rule in RULES)


def _underlines(line: str, heading: str) -> bool:
    return bool(heading) and line == "-" * len(heading)


def _sections(lines: list[str], starts: list[int]) -> Iterator[Section]:
    for start, end in pairwise([*starts, len(lines)]):
        yield Section(lines[start], "\n".join(lines[start + 2 : end]).strip("\n"))
