"""The batches that a checkpoint retains, before anything is said of their sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

from reshardctl.consumers.spark.commit_log import CommitLog, parse_commit_log
from reshardctl.consumers.spark.contents import bytes_of, is_orphan, text_of, was_read
from reshardctl.consumers.spark.folders import COMMITS, OFFSETS, Folders, batches
from reshardctl.consumers.spark.malformed import Malformed
from reshardctl.consumers.spark.offset_log import OffsetLog, parse_offset_log
from reshardctl.errors import UsageError
from reshardctl.model import Image


@dataclass(frozen=True, slots=True)
class Retained:
    """Offset and commit logs. images: of the offset logs, all of them, by id, ascending.

    logs: those that can be read; unreadable: why the others cannot, without those that nobody has
    read yet. committed: the ids of all commit files; commits, bad_commits: those that were read.
    spoiled: the newest commits, as far as none of them can be read by anybody: Spark reads the
    newest that is there, and does not start.
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
        """The ids of the batches that are over for Spark, once it starts: the newest batch runs
        again where its commit has to go."""
        again = self.newest if self.newest in self.spoiled else None
        return self.committed - {again}

    @property
    def gaps(self) -> tuple[int, ...]:
        """Ids missing between the oldest and the newest."""
        if not self.images:
            return ()
        ids = range(min(self.images), max(self.images))
        return tuple(number for number in ids if number not in self.images)


def retained(folders: Folders) -> Retained:
    """Read what was read of offsets/ and commits/."""
    images = _there(batches(folders, OFFSETS))
    logs: dict[int, OffsetLog] = {}
    unreadable: dict[int, str] = {}
    for number, image in images.items():
        if was_read(image):
            try:
                logs[number] = parse_offset_log(text_of(image))
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


def _there(found: Mapping[int, Image]) -> dict[int, Image]:
    return {number: image for number, image in found.items() if not is_orphan(image)}
