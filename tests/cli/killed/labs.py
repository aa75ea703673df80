"""The stores of the crash tier: as real libraries left them, and damaged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.cli.killed.stores import Kept, contents, temporary
from tests.cli.lab import Lab
from tests.cli.quickwit_lab import QuickwitLab, quickwit_lab
from tests.cli.spark_lab import HEAD, QUBOLE, V1, SparkLab, spark_lab

CREATED = "CREATED"
"""Among words: the stream's creation time."""
FileLab = SparkLab | QuickwitLab
Open = Callable[..., Lab]


@dataclass
class Trial:
    """A store before and after its whole repair, and a way back to either."""

    lab: FileLab
    scratch: Path
    words: tuple[str, ...] = ()
    before: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    after: dict[str, tuple[bytes, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = tuple(self.lab.created if w == CREATED else w for w in self.words)
        self.clean = self.keep("clean")
        self.before = self.files()
        done = self.lab.fix(*self.words)
        assert done.code == 0, done.err
        self.after = self.files()
        assert self.after != self.before and not temporary(self.after)
        self.whole = self.keep("whole")
        self.clean.put_back()

    def files(self) -> dict[str, tuple[bytes, int]]:
        return contents(self.lab.root)

    def keep(self, name: str) -> Kept:
        """The store and the journals as they are now."""
        return Kept.of((self.lab.root, self.lab.state), self.scratch / name)

    def fix(self) -> int:
        return self.lab.fix(*self.words).code

    def undo(self) -> int:
        return self.lab.undo().code

    def resume(self) -> int:
        journal = self.lab.journal()
        return self.lab.cli("fix", "--resume", journal, "--assume-stopped", "--yes").code


STORES: dict[str, Callable[..., AbstractContextManager[FileLab]]] = {
    "quickwit": partial(quickwit_lab, "0.9.0", "q3"),
    "quickwit-probed": partial(quickwit_lab, "0.8.2", "q3"),
    **{
        f"spark-{release}-{shape}": partial(spark_lab, release, shape)
        for release, shape in (
            (V1, "s3"), (HEAD, "s1"), (HEAD, "u1"),
            (HEAD, "s1x"), (QUBOLE, "s4"),
        )
    },
}
WORDS = {
    "quickwit-probed": ("--probe",),
    f"spark-{HEAD}-u1": ("--created", CREATED),
}
