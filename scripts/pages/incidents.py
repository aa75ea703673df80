"""Write the incidents of docs/evidence.md from tests/incidents.toml.

    .venv/bin/python -m scripts.pages incidents
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from scripts.pages import between_comments

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence.md"
LISTED = ROOT / "tests" / "incidents.toml"
HEAD = """## Public incidents

Would `reshardctl` have found what others reported? *Partly*: only in some states, or only while the
application runs. The tests execute cases of these states (`tests/incidents.toml`); the incidents
themselves were not reproduced.
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
    lines = [HEAD, total, "", _row("thread", "system", "found", "rules", "what happened")]
    lines.append(f"|{'---|' * 5}")
    for entry in known:
        rules = ", ".join(_rule(code) for code in entry["rules"])
        lines.append(_row(_link(entry), entry["system"], entry["found"], rules, _happened(entry)))
    return between_comments(PAGE, "incidents", "\n".join(lines) + "\n")


def _happened(entry: dict[str, Any]) -> str:
    """What happened, and what the answer rests on where no rule says all of it."""
    if entry["rules"] and entry["found"] == "yes":
        return str(entry["what"])
    return f"{entry['what']} *{entry['why']}*"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _link(entry: dict[str, Any]) -> str:
    repository, _, number = entry["thread"].partition("#")
    return f"[{entry['thread']}](https://github.com/{repository}/issues/{number})"


def _rule(code: str) -> str:
    from reshardctl.diagnosis.rules import RULES

    (name,) = (rule.name for rule in RULES if rule.code == code)
    return f"[{code}](rules.md#{code.lower()}-{name})"
