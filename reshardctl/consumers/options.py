"""Options of a locator that several libraries read alike, the library's release among them.

A release that the operator names is matched with those that are known. What an unknown release does
with a position is unknown. A newer patch of a known minor release is judged as the newest known
patch, with a note; a newer minor or major release is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from reshardctl.consumers.spec import Options
from reshardctl.errors import UsageError
from reshardctl.model.phrases import did_you_mean
from reshardctl.model.times import parse_instant

BY_TIME = "AT_TIMESTAMP"


def refuse_unknown(options: Options, names: Collection[str], library: str, takes: str) -> None:
    """Raises UsageError for an option not in `names`. takes: the known options, as text."""
    if unknown := sorted(set(options) - set(names)):
        raise UsageError(
            f"{library} has no option {unknown[0]!r}",
            did_you_mean(unknown[0], names, f"it takes {takes}"),
        )


def read_initial(
    text: str, modes: Iterable[str], library: str, write: str
) -> tuple[str, float | None]:
    """Read `initial=`: a start mode and, after AT_TIMESTAMP, Unix seconds if a time is given.

    Raises UsageError for anything else. write: how to write it, as text.
    """
    mode, colon, moment = text.partition(":")
    if mode not in modes or (colon and mode != BY_TIME):
        raise UsageError(f"initial={text}: not a start mode of {library}", write)
    return mode, parse_instant(moment, "initial") if colon else None


def times_of_option(options: Options, name: str) -> Mapping[str, float]:
    """The time at which shards start by this option: the option as it was given → Unix seconds.

    {} for another start. The option has been read before.
    """
    text = options.get(name, "")
    mode, colon, moment = text.partition(":")
    by_time = mode.upper() == BY_TIME and colon
    return {f"{name}={text}": parse_instant(moment)} if by_time else {}


Version = tuple[int, ...]


class MatchedRelease(Struct, frozen=True):
    """The known release that stands for a named one. note: says so where it is another."""

    version: Version
    note: str = ""


class Known(Struct, frozen=True):
    """The known releases of a product.

    Attributes:
        product: Its name in messages.
        newest: The newest known patch of every known minor release, oldest first.
        prefix: Text before the number in `release=`.
    """

    product: str
    newest: tuple[Version, ...]
    prefix: str = ""

    def matching(self, release: str, version: Version) -> MatchedRelease:
        """Match a version of one to four numbers, or a prefix's newest patch; raises UsageError."""
        matches = [known for known in self.newest if known[: len(version[:2])] == version[:2]]
        if not matches:
            raise self._unknown(release, version)
        newest = matches[-1]
        if len(version) < len(newest) or version <= newest:
            return MatchedRelease(newest if len(version) < len(newest) else version)
        return MatchedRelease(newest, newer_patch(release, f"{self.product} {dotted(newest)}"))

    @property
    def all_of_them(self) -> str:
        """The known releases as text: 1.0 to 3.5.1."""
        first, last = self.newest[0], self.newest[-1]
        if first == last:
            return f"{self.prefix}{dotted(last)}"
        return f"{self.prefix}{dotted(first[:2])} to {self.prefix}{dotted(last)}"

    def _unknown(self, release: str, version: Version) -> UsageError:
        if version < self.newest[0]:
            last = f"{self.prefix}{dotted(self.newest[-1])}"
            return UsageError(
                f"release={release}: no such {self.product} is known to this reshardctl",
                f"it knows {self.all_of_them}; e.g. release={last}",
            )
        same_major = (known for known in reversed(self.newest) if known[0] == version[0])
        newest = next(same_major, self.newest[-1])
        line = f"{self.product} {version[0]}" if 0 < newest[0] == version[0] else self.product
        return newer(release, line, dotted(newest), f"{self.prefix}{dotted(newest)}")


def newer(release: str, line: str, newest: str, named: str) -> UsageError:
    """The refusal of a release newer than the newest known one. named: what selects that one."""
    return UsageError(
        f"release={release}: newer than the newest {line} known to this reshardctl, {newest}; "
        "what it does at a start is not known",
        f"use a newer reshardctl; where it is known to start as {newest} does: release={named}",
    )


def newer_patch(release: str, judged: str) -> str:
    """The note of a release that is judged as an older patch or as another build of it."""
    return f"release={release} is not known to this reshardctl: it is judged as {judged}"


def dotted(version: Version) -> str:
    """A version as text: 3.5.1."""
    return ".".join(str(part) for part in version)


def version_of(text: str) -> Version:
    """The version that `dotted` makes such a text of."""
    return tuple(map(int, text.split(".")))


def same_commit(named: str, known: str) -> bool:
    """Whether two commits, each possibly abbreviated, may be the same."""
    return named.startswith(known) or known.startswith(named)
