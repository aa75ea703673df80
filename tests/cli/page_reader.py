"""Types the commands of a page and compares what they print with what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tests.cli.lab import Lab
from tests.support.own_folders import WRITE_TRANSCRIPTS
from tests.whole.docs.pages import ROOT
from tests.whole.docs.transcripts import Transcript, beside, differences, shows, transcripts

MIDNIGHT = 1_795_219_200
"""2026-11-21T00:00:00Z, when the stream of most transcripts was created."""
STATE = "/home/ops/.local/state/reshardctl"
HOME = "~/.local/state/reshardctl"
LOCATOR = re.compile(r"[a-z0-9+-]+:/")
TRIM_HORIZON = "initial=TRIM_HORIZON&release=3.5.1"


def of(page: str, *, first: str = "", last: str = "") -> list[Transcript]:
    """The transcripts of a page, or of those between two headings."""
    path = ROOT / "docs" / f"{page}.md"
    text = path.read_text(encoding="utf-8")

    def line(heading: str, otherwise: int) -> int:
        return text.count("\n", 0, text.index(f"# {heading}")) if heading else otherwise

    begin, end = line(first, 0), line(last, text.count("\n"))
    return [one for one in transcripts(path) if begin <= one.line < end]


def written(undo: Transcript) -> str:
    """The journal that a page's undo names."""
    return next(word for word in undo.command.split() if word.endswith(".jsonl"))


def whole(text: str, locators: Iterable[str]) -> str:
    """A text in which no locator is broken at the end of a line."""
    for locator in locators:
        broken = r"\n?".join(map(re.escape, locator))
        text = re.sub(broken, locator.replace("\\", r"\\"), text)
    return text


class Reader:
    """Types the commands of a page, one after the other, and compares.

    places: what stands in this test for a path or an address of the page.
    """

    def __init__(self, lab: Lab, places: Mapping[str, str] = MappingProxyType({})) -> None:
        self.lab = lab
        self.places = places
        self.code = 0
        self.locators: set[str] = set()
        """Those of the commands until now, as the page and as this test has them."""

    def here(self, text: str) -> str:
        """The page's text with this test's places."""
        for shown, real in self.places.items():
            text = text.replace(shown, real)
        return text

    def there(self, text: str) -> str:
        """What is printed here, with the page's places."""
        for shown, real in self.places.items():
            text = text.replace(real, shown)
        return text

    def move(self, time: str) -> None:
        """Go on to this time of the transcripts' day."""
        hours, minutes, seconds = map(int, time.split(":"))
        now = MIDNIGHT + 3600 * hours + 60 * minutes + seconds
        self.lab.fake.clock.advance(now - self.lab.time())

    def fix(self, *more: str) -> None:
        """What happened before a transcript."""
        done = self.lab.cli(
            "fix", f"kcl://app?{TRIM_HORIZON}", "--stream", "orders", "--yes", "--assume-stopped",
            *more,
        )
        assert done.code == int("--dry-run" in more), done.err

    def type(self, transcript: Transcript) -> None:
        """The page's output is what this command prints, and its exit code the one of the page."""
        words = shlex.split(transcript.command, comments=True)
        words = [self.lab.created if words[i - 1] == "--created" else word
                 for i, word in enumerate(words)]
        if transcript.command == "echo $?":
            assert int(transcript.output) == self.code, transcript
        if words[0] == "grep":
            found = subprocess.run([self.here(word) for word in words], capture_output=True,
                                   check=True, text=True).stdout
            assert shows(transcript.output, found), differences(transcript, found)
        if words[0] != "reshardctl":
            return
        typed = [self.here(word) for word in words[1:]]
        self.locators.update(word for word in [*words, *typed] if LOCATOR.match(word))
        done = self.lab.typed(*typed)
        self.code = done.code
        state = STATE if STATE in transcript.page.read_text(encoding="utf-8") else HOME
        said = [self.there(whole(text, self.locators).replace(str(self.lab.state), state))
                for text in (done.out, done.err)]
        right = shows(beside(whole(transcript.output, self.locators), said[1]), said[0])
        if not right and os.environ.get(WRITE_TRANSCRIPTS):
            transcript.write("".join(reversed(said)))
            return
        assert right, differences(transcript, "".join(said))
        assert transcript.code in (None, done.code), (str(transcript), done.code)
