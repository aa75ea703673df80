"""The transcripts of a page: each command with the output and the exit code that the page shows.

Two texts are compared by their words: lines are wrapped by the length of names. What differs from
run to run is masked: times, durations, the names of journals, byte counts, digests.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.whole.docs.pages import blocks

_EXIT = re.compile(r"\[exit (\d+)\]\Z")
_MASKS = (
    (re.compile(r"(?<=\bjournal  )\S+"), "JOURNAL"),  # cut to the width, if it is long
    (re.compile(r"\S*/reshardctl(?:(?:/20\d{6}T)?…|/20\d{6}T\d{6}Z\S*\.jsonl)"), "JOURNAL"),
    (re.compile(r"\b20\d{6}T\d{6}Z(?:-[\w.-]+?-[0-9a-f]{8})?\b"), "JOURNAL"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)"), "TIME"),
    (re.compile(r"\b(?:\d+[dhms])+\b"), "LONG"),
    (re.compile(r"\b[\d,]+ bytes\b"), "N bytes"),
    (re.compile(r"# see the exact writes"), ""),  # left out where the line is too long for it
)


@dataclass(frozen=True)
class Transcript:
    """A command, and what the page says came of it; code: `None` where the page does not say."""

    page: Path
    line: int
    command: str
    output: str
    code: int | None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}: {self.command}"

    def write(self, printed: str) -> None:
        """Put what is printed in the place of the page's output."""
        text = self.page.read_text(encoding="utf-8")
        block = "".join(text.splitlines(keepends=True)[: self.line])
        form = re.compile(
            rf"^( *)\$ {re.escape(self.command)}\n(.*?)(?=^ *(?:\$ |```|\[exit ))",
            re.MULTILINE | re.DOTALL,
        )
        shown = form.search(text, len(block))
        assert shown is not None, self
        new = textwrap.indent(printed.strip("\n") + "\n", shown[1])
        self.page.write_text(text[: shown.start(2)] + new + text[shown.end(2) :], encoding="utf-8")


def transcripts(page: Path) -> Iterator[Transcript]:
    """Every command of a page that is followed by its output."""
    for block in blocks(page):
        if block.language != "console":
            continue
        text = re.sub(r"^ +(?=\$ )", "", block.text, flags=re.MULTILINE)
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            shown = output.strip()
            code = _EXIT.search(shown)
            shown = shown[: code.start()] if code else shown
            if shown.strip():
                yield Transcript(
                    page, block.line, command, shown, int(code[1]) if code else None
                )


def told(text: str) -> list[str]:
    """The words of an output, without what changes from run to run."""
    unwrapped = re.sub(r" \\\n\s*", " ", text)
    for pattern, mask in _MASKS:
        unwrapped = pattern.sub(mask, unwrapped)
    return unwrapped.split()


def beside(shown: str, errors: str) -> str:
    """A page's output without what goes to stderr, which a terminal shows at any place."""
    lines = [told(line) for line in errors.splitlines()]
    return "\n".join(line for line in shown.splitlines() if told(line) not in lines or not line)


def shows(shown: str, printed: str) -> bool:
    """Whether a page's output is the printed one; a line "…" stands for lines left out."""
    place, words = 0, told(printed)
    parts = re.split(r"^\s*…\s*$", shown, flags=re.MULTILINE)
    for index, part in enumerate(parts):
        wanted = told(part)
        for start in range(place, len(words) - len(wanted) + 1):
            if words[start : start + len(wanted)] == wanted:
                if index == 0 and start:
                    return False
                place = start + len(wanted)
                break
        else:
            return False
    return (len(parts) > 1 and not told(parts[-1])) or place == len(words)


def differences(transcript: Transcript, printed: str) -> str:
    """What a page shows and the command does not print, and the other way round, word by word."""
    changed = difflib.ndiff(told(transcript.output), told(printed))
    words = " ".join(word for word in changed if word[0] in "+-")
    return f"{transcript}\n{words}\n--- printed:\n{printed}"
