"""Write docs/rules.md from the pages in reshardctl/diagnosis/rules/pages.

    .venv/bin/python -m scripts.pages rules
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reshardctl.diagnosis.rules.pages import Page, pages

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
HEAD = """# Rules

Each finding carries the code of a rule; `reshardctl rule RSH203` prints one, with an example. Where
a rule has a fix and names no command, it is `reshardctl fix CONSUMER --stream NAME --dry-run`. A
code keeps its meaning for good. Its first digit is the subject: 1 the stream, 2 the next start, 3
rows, 4 the running application, 5 the sink of an audit, 9 a failed read. What costs more than
`--accept` allows is [left alone](exit-codes.md#what---yes-accepts). Where no public report is
named, none is known.

An error is a certain loss, stall or crash, a warning a possible loss, repeated reads or disorder,
an info a leftover. Findings from `--fail-on` on (default: errors only) set the
[exit code](exit-codes.md). [What a clean report means](judged.md) says how losses and deadlines are
known. [Suppress](config.md#suppressions) a known finding, repair
[some rules only](policies.md#some-shards-or-rules-only), or [wait](ci.md#wait-for-the-reshard)
where a reshard is minutes old. Repairs: [the runbook](runbook.md).
"""
NOTE = """\
<!-- Written by python -m scripts.pages rules from reshardctl/diagnosis/rules/pages; edit those. -->
"""
SAYS_NOTHING = ("Always.", "No public report known.")
"""Texts of sections that the head of the page says for all rules."""
USUAL = "    reshardctl fix kcl://TABLE --stream NAME --dry-run"
"""The command that the head of the page says for all rules."""
THREAD = re.compile(r"\b([A-Za-z0-9-]+/[A-Za-z0-9._-]+)#(\d+)")
"""A thread on GitHub, which sends issues/N on to pull/N where it is one."""


def page() -> str:
    """The whole page."""
    known = pages()
    lines = [HEAD, "| rule | summary |", "|---|---|"]
    for rule in known:
        cells = (f"[{rule.code} {rule.name}](#{_anchor(rule)})", _escaped(rule.summary))
        lines.append(f"| {' | '.join(cells).replace(chr(10), ' ')} |")
    for rule in known:
        lines += ["", *_section(rule)]
    return "\n".join([*lines, "", NOTE])


def _section(rule: Page) -> Iterator[str]:
    """A rule without what is said elsewhere: its summary, the title of its first part, its example,
    the usual command, and parts that say only that there is no fix, or no public report.
    """
    yield f"## {rule.code} {rule.name}"
    for section in rule.sections:
        if section.text in SAYS_NOTHING or section.title == "Example":
            continue
        if section is not rule.sections[0]:
            yield f"\n**{section.title}**"
        for block in section.text.split("\n\n"):
            if block != USUAL:
                yield from _block(block)


def _block(block: str) -> Iterator[str]:
    """A paragraph, or lines that are shown as they are: those indented by four spaces."""
    lines = block.splitlines()
    if all(line.startswith("    ") for line in lines):
        yield "\n```text\n" + "\n".join(line[4:] for line in lines) + "\n```"
        return
    yield "\n" + THREAD.sub(r"[\g<0>](https://github.com/\1/issues/\2)", _escaped(block))


def _escaped(text: str) -> str:
    """Plain text as Markdown: what stands in code stays as it is."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*_<~|\\])", r"\\\1", p) for p in parts)


def _anchor(rule: Page) -> str:
    return f"{rule.code}-{rule.name}".lower()
