"""The batches that a checkpoint retains, before their sources are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, takewhile

from reshardctl.consumers.spark.checkpoint import asynchronous
from reshardctl.consumers.spark.commit_log import CommitLog, parse_commit_log
from reshardctl.consumers.spark.contents import bytes_of, is_orphan, kept_text_of, text_of, was_read
from reshardctl.consumers.spark.folders import COMMITS, OFFSETS, Folders, batches
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.offset_log import OffsetLog, parse_offset_log
from reshardctl.errors import UsageError
from reshardctl.model import Image


@dataclass(frozen=True, slots=True)
class Retained:
    """Offset and commit logs.

    Attributes:
        images: All offset logs by id, ascending.
        logs: Those that can be read.
        unreadable: Why others cannot, without those that were not read yet.
        committed: The ids of all commit files.
        commits: Commits that were read.
        bad_commits: Why others cannot be read.
        spoiled: The newest commits that cannot be read: Spark reads the newest, and does not start.
    """

    images: Mapping[int, Image]
    logs: Mapping[int, OffsetLog]
    unreadable: Mapping[int, str]
    committed: frozenset[int]
    commits: Mapping[int, CommitLog]
    bad_commits: Mapping[int, str]
    spoiled: tuple[int, ...] = ()

    @property
    def newest(self) -> int | None:
        """The highest id that Spark sees in offsets/."""
        return max(self.images, default=None)

    @property
    def counted(self) -> frozenset[int]:
        """The ids of committed batches, without one whose spoiled commit must be removed."""
        again = self.newest if self.newest in self.spoiled else None
        return self.committed - {again}

    @property
    def gaps(self) -> tuple[range, ...]:
        """Ids missing between the oldest and the newest, never one by one: a name may be huge."""
        ids = sorted(self.images)
        return tuple(range(a + 1, b) for a, b in pairwise(ids) if b - a > 1)

    @property
    def copied(self) -> int | None:
        """The batch of which the newest offset log is a copy under another number.

        Such a file follows a gap, has no commit, and says what another one says, time stamp
        included: `cp offsets/12 offsets/20261127`. No query writes the same log twice.
        """
        newest = self.newest
        if newest is None or newest - 1 in self.images or newest in self.committed:
            return None
        log = self.logs.get(newest)
        same = (number for number, other in self.logs.items() if number != newest and other == log)
        return next(same, None)

    @property
    def asynchronous(self) -> bool:
        """Whether progress is tracked asynchronously: missing ids have no commits either."""
        return self.copied is None and asynchronous(self.gaps, self.counted)


def retained(folders: Folders) -> Retained:
    """Read the files of offsets/ and commits/ that have content."""
    images = _there(batches(folders, OFFSETS))
    logs: dict[int, OffsetLog] = {}
    unreadable: dict[int, str] = {}
    for number, image in images.items():
        if was_read(image):
            try:
                logs[number] = parse_offset_log(kept_text_of(image))
            except UsageError as error:
                raise _named(image, error) from None
            except Malformed as error:
                unreadable[number] = str(error)
    files = _there(batches(folders, COMMITS))
    commits: dict[int, CommitLog] = {}
    bad: dict[int, str] = {}
    for number, image in files.items():
        if was_read(image):
            try:
                commits[number] = parse_commit_log(text_of(image))
            except UsageError as error:
                raise _named(image, error) from None
            except Malformed as error:
                bad[number] = str(error)
    spoiled = takewhile(
        lambda number: number in bad and bytes_of(files[number]) is not None,
        sorted(files, reverse=True),
    )
    return Retained(images, logs, unreadable, frozenset(files), commits, bad, tuple(spoiled))


def _named(image: Image, error: UsageError) -> UsageError:
    return UsageError(f"{image.key}: {error.what}", error.next)


def _there(images: Mapping[int, Image]) -> dict[int, Image]:
    return {number: image for number, image in images.items() if not is_orphan(image)}
