"""How to go about a fix or an undo, whatever its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reshardctl.commands.account import Account
from reshardctl.console.choices import ColorMode
from reshardctl.console.destinations import ONE_DOCUMENT, destinations
from reshardctl.console.output import Output
from reshardctl.planning.policy import Accept

USUAL_WATCH = "30s"


@dataclass(frozen=True, slots=True)
class Asked:
    """How to go about it, whatever the source."""

    account: Account
    dry_run: bool
    out: Path | None
    yes: bool
    assume_stopped: bool
    watch: float
    journal: str | None
    formats: Sequence[str] | None
    output: str | None
    color: ColorMode
    verbose: bool
    created: float | None = None
    """The creation time of the stream to which the positions belong, as the operator says."""
    live: bool = False
    """Whether to write while the consumer runs."""
    config: Path | None = None
    """The file of the configured names, if it is not the usual one."""
    sink: tuple[str, ...] = ()
    """The words that name the sink whose line is wanted; none for a fix."""
    accept: Accept | None = None
    """The limit that the command line names."""
    how: tuple[str, ...] = ()
    """The words of the command line that say how to go about writing."""

    @property
    def quiet(self) -> bool:
        """Whether only the outcome is wanted: one document, not two."""
        return destinations(self.formats, self.output)[0].format in ONE_DOCUMENT

    def to(self, words: Sequence[str]) -> Output:
        """Where results go."""
        places = destinations(self.formats, self.output)
        return Output(places, self.color, self.verbose, words, self.sink)


def how(assume_stopped: bool, live: bool, watch: str, journal: str | None) -> tuple[str, ...]:
    """The options that say how to go about writing, to be given again."""
    words = ["--assume-stopped"] if assume_stopped else []
    words += ["--live"] if live else []
    words += ["--watch", watch] if watch != USUAL_WATCH else []
    return (*words, *(["--journal", journal] if journal else []))
