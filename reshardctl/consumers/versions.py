"""The release that the operator names, placed among those that are known.

What an unknown release does with a stored position is unknown, so it is never taken for its
neighbour without a word: a newer patch of a known minor release is judged as the newest known one
of it, and a note says so; a newer minor or major release is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from reshardctl.errors import UsageError

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchedRelease:
    """The known release that stands for a named one. note: says so where it is another."""

    version: Version
    note: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a product's releases.

    product: its name in messages. newest: of every known minor release the newest known patch,
    oldest first. prefix: what stands before the number in `release=`.
    """

    product: str
    newest: tuple[Version, ...]
    prefix: str = ""

    def matching(self, release: str, said: Version) -> MatchedRelease:
        """Place a version of one to four numbers. A prefix ("3.5", "3") means its newest patch.

        release: as the operator wrote it. Raises UsageError for what is not known.
        """
        found = [one for one in self.newest if one[: len(said[:2])] == said[:2]]
        if not found:
            raise self._unknown(release, said)
        newest = found[-1]
        if len(said) < len(newest) or said <= newest:
            return MatchedRelease(newest if len(said) < len(newest) else said)
        return MatchedRelease(newest, newer_patch(release, f"{self.product} {dotted(newest)}"))

    def _unknown(self, release: str, said: Version) -> UsageError:
        if said < self.newest[0]:
            first, last = dotted(self.newest[0][:2]), dotted(self.newest[-1])
            return UsageError(
                f"release={release}: no such {self.product} is known to this reshardctl",
                f"it knows {first} to {last}; e.g. release={self.prefix}{last}",
            )
        newest = next((one for one in reversed(self.newest) if one[0] == said[0]), self.newest[-1])
        line = f"{self.product} {said[0]}" if 0 < newest[0] == said[0] else self.product
        return newer(release, line, dotted(newest), f"{self.prefix}{dotted(newest)}")


def newer(release: str, line: str, newest: str, named: str) -> UsageError:
    """The refusal of a release newer than the newest known one. named: what selects that one."""
    return UsageError(
        f"release={release}: newer than the newest {line} known to this reshardctl, {newest}; "
        "what it does at a start is not known",
        f"use a newer reshardctl; where it is known to start as {newest} does: release={named}",
    )


def newer_patch(release: str, judged: str) -> str:
    """The note of a release that is judged as an older patch of it, or as another build of it."""
    return f"release={release} is not known to this reshardctl: it is judged as {judged}"


def dotted(version: Version) -> str:
    """A version as text: 3.5.1."""
    return ".".join(str(part) for part in version)


def same_commit(said: str, known: str) -> bool:
    """Whether two commits, each perhaps cut short, may be the same."""
    return said.startswith(known) or known.startswith(said)
