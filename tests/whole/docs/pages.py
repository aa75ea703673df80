"""The Markdown pages of the project, and the shell blocks in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
TOP = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
PAGES = [*TOP, *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
SHELL = ("console", "bash", "sh", "shell")


@dataclass(frozen=True)
class Block:
    """A block of code of a page. line: where it begins."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Its commands, continued lines joined, without their comments and output."""
        joined = re.sub(r"\\\n *", "", self.text)
        lines = [line.strip() for line in joined.splitlines()]
        if self.language == "console":
            return [line[2:] for line in lines if line.startswith("$ ")]
        return [line for line in lines if line and not line.startswith("#")]


def blocks(page: Path) -> Iterator[Block]:
    """Every block of code of a page."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield Block(page, text.count("\n", 0, match.start()) + 1, match[2], match[3])


def shell_blocks() -> list[Block]:
    """Every shell block of every page."""
    return [block for page in PAGES for block in blocks(page) if block.language in SHELL]


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return BLOCK.sub("", page.read_text(encoding="utf-8"))
