"""A page of Markdown, in which no text of a store can make a link, mention, picture or table.

A word with a sign that means something to Markdown, or to GitHub on top of it (`@`, `#`, `:x:`,
URLs), stands in a code span, where none of them does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reshardctl.diagnosis.rules import Finding
from reshardctl.render.context import Context
from reshardctl.render.escape import ascii_only, escape
from reshardctl.render.words import sentence, shards, shortened

_SPECIAL = re.compile(r"[`|<>\[\]&\\*_~#@$!^={}]|:[\w/+-]|www\.", re.IGNORECASE)
_WORD = re.compile(r"(?P<open>[(]*)(?P<core>.*?)(?P<close>[),.;:?]*)\Z", re.DOTALL)


class Page:
    """Blocks from top to bottom, an empty line between them."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._below = 0
        self._blocks: list[str] = []

    def part(self, context: Context) -> Page:
        """A page inside this one, below what is on it: its headings are one level lower."""
        part = Page(context)
        part._below, part._blocks = self._below + 1, self._blocks
        return part

    def heading(self, level: int, text: str) -> None:
        """`## Steps`. The text goes through `prose` first where a store may have a say in it."""
        self._blocks.append(f"{'#' * (level + self._below)} {text}")

    def line(self, text: str) -> None:
        """A paragraph."""
        self._blocks.append(text)

    def bullets(self, lines: Iterable[str]) -> None:
        """A list; none where there is no line."""
        if listed := [f"- {line}" for line in lines]:
            self._blocks.append("\n".join(listed))

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A GFM table of cells that went through `prose` or `code`."""
        lines = [heads, ["---"] * len(heads), *rows]
        self._blocks.append("\n".join(f"| {' | '.join(cells)} |" for cells in lines))

    def findings(
        self, total: str, last: str, rows: Sequence[tuple[Finding, Iterable[str], str, str]]
    ) -> None:
        """How many findings there are, then a table with a row for each, worst first.

        last: the head of the last column. rows: the finding, sentences on it, until when something
        can be done, and the text of the last column.
        """
        verbose = self.context.verbose
        self.line(total)
        if rows:
            self.table(["severity", "rule", "shards", "what", "by when", last], [
                [
                    str(finding.severity), f"{finding.code} {finding.name}",
                    prose(shards(finding.shards, verbose)) or "–",
                    prose(" ".join(sentence(shortened(part, verbose)) for part in parts if part)),
                    prose(by_when) or "–", prose(then) or "–",
                ]
                for finding, parts, by_when, then in rows
            ])

    def steps(self, steps: Iterable[tuple[str, Sequence[Sequence[str]]]]) -> None:
        """A numbered list of tasks to tick off, each with its commands."""
        for number, (text, commands) in enumerate(steps, 1):
            lead = f"{number}. "
            block = [f"{lead}[ ] {text}"]
            for arguments in commands:
                block.append("")
                block += _fenced(arguments, " " * len(lead))
            self._blocks.append("\n".join(block))

    def command(self, arguments: Sequence[str]) -> None:
        """A command to copy."""
        self._blocks.append("\n".join(_fenced(arguments, "")))

    def text(self) -> str:
        """The whole page."""
        whole = "\n\n".join(self._blocks) + "\n"
        return ascii_only(whole) if self.context.ascii else whole


def prose(text: str) -> str:
    """A sentence in which every word that Markdown would read as more is code."""
    return " ".join(_word(word) for word in escape(text).split(" "))


def code(text: str) -> str:
    """A code span that no content ends: backticks and cell borders are spelled out."""
    safe = escape(text).replace("`", "\\x60").replace("|", "\\x7c")
    return f"`{safe}`" if safe.strip() else "–"


def _word(word: str) -> str:
    parts = _WORD.match(word)
    if parts is None or not _SPECIAL.search(word):
        return word
    if _SPECIAL.search(parts["close"]) or not parts["core"]:
        return code(word)
    return f"{parts['open']}{code(parts['core'])}{parts['close']}"


def _fenced(arguments: Sequence[str], indent: str) -> list[str]:
    """One line that begins with the name of a program, so that nothing in it ends the fence."""
    return [f"{indent}```sh", f"{indent}{escape(' '.join(arguments))}", f"{indent}```"]
