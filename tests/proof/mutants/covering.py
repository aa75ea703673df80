"""Which tests can notice a change of a line, the most promising first."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from coverage import CoverageData

COLLECTED_SECONDS = 0.15
A_FILE = 6
"""How many tests of a file are tried before others of it."""
SHARES = (1 / 60, 1 / 8, 1.0)
"""The part of all seconds after which each round ends."""


class Covering:
    """What `measuring` noted by test, from its folder."""

    def __init__(self, folder: Path) -> None:
        self._data = CoverageData(str(folder / "coverage"))
        self._data.read()
        self.seconds: dict[str, float] = {}
        for path in folder.glob("seconds-*.json"):
            self.seconds |= json.loads(path.read_text())
        self._lines: dict[Path, dict[int, list[str]]] = {}

    @cached_property
    def _measured(self) -> dict[str, str]:
        return {name.rpartition("/reshardctl/")[2]: name for name in self._data.measured_files()}

    def _of_file(self, path: Path) -> dict[int, list[str]]:
        if path not in self._lines:
            name = self._measured.get(str(path.relative_to("reshardctl")), "")
            self._lines[path] = self._data.contexts_by_lineno(name) if name else {}
        return self._lines[path]

    def tests(self, path: Path, first: int, last: int) -> list[str]:
        """The ids of the tests that run one of these lines; where they run at import only, of those
        that run anything of the file, and where all of it does, of the room's own."""
        lines = self._of_file(path)
        changed = (lines.get(line, ()) for line in range(first, last + 1))
        return (
            self._passed(itertools.chain.from_iterable(changed))
            or self._passed(itertools.chain.from_iterable(lines.values()))
            or [name for name in self.seconds if name.startswith(f"tests/unit/{path.parts[1]}/")]
        )

    def _passed(self, names: Iterable[str]) -> list[str]:
        return [name for name in dict.fromkeys(names) if name in self.seconds]

    def rounds(self, path: Path, tests: list[str], most: float) -> list[list[str]]:
        """First those of the room's own folder, then others, for about so many seconds in all; of
        each, some of every file before the rest, the cheap files first.

        The first rounds are short: pytest imports every file of a round before its first test, and
        most mutants are killed by one of the first few.
        """
        files: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(tests, key=lambda name: self.seconds[name]):
            files[name.partition("::")[0]].append(name)
        order = sorted(files, key=lambda file: self._price(files[file]))
        own = [file for file in order if file.startswith(f"tests/unit/{path.parts[1]}/")]
        turns = [
            [name for file in some for name in files[file][part]]
            for some in (own, [file for file in order if file not in own])
            for part in (slice(A_FILE), slice(A_FILE, None))
        ]
        found: list[list[str]] = [[]]
        spent, limits, imported = 0.0, [share * most for share in SHARES], set[str]()
        for name in itertools.chain.from_iterable(turns):
            if spent > limits[0]:
                limits.pop(0)
                if not limits:
                    break
                found.append([])
            file = name.partition("::")[0]
            spent += self.seconds[name] + (0 if file in imported else COLLECTED_SECONDS)
            imported.add(file)
            found[-1].append(name)
        return [each for each in found if each]

    def _price(self, names: list[str]) -> float:
        return COLLECTED_SECONDS + sum(self.seconds[name] for name in names[:A_FILE])
