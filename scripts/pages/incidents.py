"""Write the incidents of docs/evidence.md from tests/incidents.toml.

    .venv/bin/python -m scripts.pages incidents
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.pages import between_comments

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence.md"
LISTED = ROOT / "tests" / "incidents.toml"
HEAD = """## Public incidents

Each incident was reported in a public thread. "Found" says whether `reshardctl` would have found
it: *yes*, *partly* (only in some states, or only while the application runs) or *no*. A case in
**bold** has values of the thread; every other case shows the same state with made-up values. The
tests execute the cases; the incidents themselves were not reproduced.
"""


def incidents() -> list[dict[str, Any]]:
    """The incidents of the file, in its order."""
    return list(tomllib.loads(LISTED.read_text(encoding="utf-8"))["incident"])


def page() -> str:
    """The whole page."""
    known = incidents()
    found = Counter(entry["found"] for entry in known)
    counts = ", ".join(f"{found[word]} {word}" for word in ("yes", "partly", "no"))
    values = sum(entry.get("values", False) for entry in known)
    total = f"{len(known)} incidents: {counts}. {values} cases have values of the thread."
    lines = [HEAD, total, "", "| thread | system | found | rules |", "|---|---|---|---|"]
    for entry in known:
        rules = ", ".join(_rule(code) for code in entry["rules"])
        lines.append(f"| {_link(entry)} | {entry['system']} | {entry['found']} | {rules} |")
    for entry in known:
        lines += ["", *_section(entry)]
    return between_comments(PAGE, "incidents", "\n".join(lines) + "\n")


def _section(entry: dict[str, Any]) -> Iterator[str]:
    yield f"### {entry['thread'].rpartition('/')[2].replace('#', ' ')}\n"
    yield f"{_link(entry)}, {entry['system']}. {entry['what']}\n"
    case = entry.get("case")
    if case:
        name = f"`tests/cases/{case}.toml`"
        yield f"- Case: {f'**{name}**' if entry.get('values') else name}"
    else:
        yield "- Case: none"
    rules = ", ".join(_rule(code) for code in entry["rules"])
    yield f"- Found: {entry['found']}{f', by {rules}' if rules else ''}. {entry['why']}"


def _link(entry: dict[str, Any]) -> str:
    repository, _, number = entry["thread"].partition("#")
    return f"[{entry['thread']}](https://github.com/{repository}/issues/{number})"


def _rule(code: str) -> str:
    from reshardctl.diagnosis.rules import RULES

    (name,) = (rule.name for rule in RULES if rule.code == code)
    return f"[{code}](rules.md#{code.lower()}-{name})"
