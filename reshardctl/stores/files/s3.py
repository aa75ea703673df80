"""A prefix of an S3 bucket.

A new object is put with If-None-Match: *, another content with If-Match and the ETag that was read
("How to prevent object overwrites with conditional writes", Amazon S3 User Guide: August and
November 2024), and so is a delete ("How to perform conditional deletes", September 2025). Reads and
lists are strongly consistent since December 2020. Spark keeps no checksums beside files here.

A put replaces all of an object, its tags too (PutObject API reference): what the object is stored
with is put again, and where it cannot be seen or put again nothing is written. Access control lists
are not: buckets have none since April 2023, unless somebody asks for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from msgspec.structs import replace

from reshardctl.aws import client, s3
from reshardctl.aws.s3 import Kind, kind_of
from reshardctl.errors import INSPECT, AnswerLost, NoStore, Refused, ReshardError, command_line
from reshardctl.model.retry import FailureKind
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files.blobs import Blob, Entry, Kept, Moved, check_size, checked

if TYPE_CHECKING:
    from boto3.session import Session

ACTIONS = {
    "inspect": ("s3:GetObject", "s3:ListBucket"),
    "fix": (
        "s3:DeleteObject", "s3:GetObject", "s3:GetObjectTagging", "s3:ListBucket", "s3:PutObject",
        "s3:PutObjectTagging",
    ),
}
"""Command group → actions; s3:ListBucket is on the bucket, the others on the objects."""
AT_ONCE = 8
"""Objects that are read, or folders that are listed, at the same time."""
AHEAD = 2 * AT_ONCE
"""Objects that are being read or were read and not taken yet."""
_KEPT = (
    "CacheControl", "ContentDisposition", "ContentEncoding", "ContentLanguage", "ContentType",
    "Metadata", "StorageClass", "WebsiteRedirectLocation", "ServerSideEncryption", "SSEKMSKeyId",
)  # fmt: skip
"""What a put has to name again, or it is lost (PutObject API reference)."""
_AS_TEXT = ("Expires", "Tagging")
"""The same, spelled as text: a time, and tags as a query."""
_BUCKET_KEY = "BucketKeyEnabled"
"""Named for a key of KMS even where it is not used: the bucket's default may be another."""


class S3:
    """See `Blobs`. Lost answers are looked up; throttles and 5xx are retried."""

    checksums = False
    at_once = AT_ONCE

    def __init__(
        self, session: Session, bucket: str, prefix: str, *, region: str | None = None,
        endpoint_url: str | None = None, sleep: Callable[[float], None],
        progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> None:
        """Makes the client and calls nothing yet. Raises UsageError without a region.

        session: a boto3 Session. prefix: with or without a slash at its end; "" for the whole
        bucket. progress: called with the number of objects read and their total.
        """
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self.location = f"s3://{bucket}/{self._prefix}".rstrip("/")
        self._boto = client.client_of(session, "s3", region, endpoint_url, self.location)
        self._retry = s3.retry(self._boto, sleep)
        self._progress = progress

    def identity(self) -> Mapping[str, str]:
        """The prefix as an ARN."""
        arn = f"arn:aws:s3:::{self._bucket}/{self._prefix}".rstrip("/")
        return {"medium": "s3files", "arn": arn}

    def list(self, folder: str) -> list[Entry] | None:
        """The entries of all pages. NoStore for a prefix without any object."""
        prefix = f"{self._prefix}{folder}/" if folder else self._prefix
        entries: list[Entry] = []
        there = False
        for page in self._pages(prefix, f"{self.location}/{folder}" if folder else self.location):
            there = there or bool(page.get("Contents") or page.get("CommonPrefixes"))
            entries += _entries(page, prefix)
        if not there and not folder:
            raise NoStore(
                f"there is nothing below {self.location}",
                command_line("aws", "s3", "ls", f"{self.location}/"),
            )
        return entries if there else None

    def read(self, keys: Collection[str]) -> dict[str, Blob | None]:
        """All that `each` gives."""
        return dict(self.each(keys))

    def each(self, keys: Collection[str]) -> Iterator[tuple[str, Blob | None]]:
        """Reads AT_ONCE objects at a time; at most AHEAD are held."""
        names = [checked(key) for key in keys]
        if len(names) < 2:
            yield from ((key, self._read(key)) for key in names)
            return
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                for done, (key, blob) in enumerate(self._in_order(pool, names), 1):
                    self._progress(done, len(names))
                    yield key, blob
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _in_order(
        self, pool: Executor, names: Sequence[str]
    ) -> Iterator[tuple[str, Blob | None]]:
        waiting = iter(names)
        asked = deque((name, pool.submit(self._read, name)) for name in islice(waiting, AHEAD))
        while asked:
            name, answer = asked.popleft()
            blob = answer.result()
            asked.extend((next_, pool.submit(self._read, next_)) for next_ in islice(waiting, 1))
            yield name, blob

    def writing(self) -> AbstractContextManager[None]:
        """Does nothing: every write has its condition."""
        return nullcontext()

    def together(self, note: bytes) -> AbstractContextManager[None]:  # noqa: ARG002
        """Does nothing: no object has a checksum beside it."""
        return nullcontext()

    def unfinished(self) -> Iterator[bytes]:
        """There is none."""
        return iter(())

    def create(self, key: str, content: bytes, kept: Kept | None = None) -> None:
        """Calls PutObject with If-None-Match: *."""
        headers = _headers(key, kept or {})

        def put() -> None:
            self._put(key, content, IfNoneMatch="*", **headers)

        self._sent(put, key, _action(headers), lambda now: _is(now, content), _absent)

    def replace(self, key: str, content: bytes, was: Blob) -> None:
        """Calls PutObject with If-Match, and with the tags that the object has now."""
        tags = self._tags(key)
        kept = {name: value for name, value in (was.kept or {}).items() if name != "Tagging"}
        headers = kept | ({"Tagging": tags} if tags else {})

        def put() -> None:
            self._put(key, content, IfMatch=was.token, **headers)

        self._sent(
            put, key, _action(headers), lambda now: _is(now, content),
            lambda now: now is not None and now.token == was.token,
        )

    def delete(self, key: str, was: Blob) -> None:
        """Calls DeleteObject with If-Match; a versioned bucket keeps the content as a version.

        Moved where the object has tags that were not read with it: they could not come back.
        """
        if self._tags(key) != (was.kept or {}).get("Tagging", ""):
            raise Moved(key)

        def call() -> None:
            self._boto.delete_object(
                Bucket=self._bucket, Key=self._prefix + checked(key), IfMatch=was.token
            )

        self._sent(
            call, key, "s3:DeleteObject", _absent,
            lambda now: now is not None and now.token == was.token,
        )

    def _tags(self, key: str) -> str:
        """The tags of an object as a put takes them; "" for none, and where no object has any.

        Without the permission GetObject does not show that there are some.
        """
        def get() -> str:
            try:
                tags = self._boto.get_object_tagging(
                    Bucket=self._bucket, Key=self._prefix + checked(key)
                )["TagSet"]
            except client.CAUGHT as error:
                if kind_of(error) is Kind.ABSENT or s3.not_implemented(error):
                    return ""
                raise
            return urlencode([(tag["Key"], tag["Value"]) for tag in tags])

        return self._retry.read(get, self._failed(
            f"cannot write {self.location}/{key}", self._prefix + key, "s3:GetObjectTagging"
        ))

    def _put(self, key: str, content: bytes, **conditions: Any) -> None:
        self._boto.put_object(
            Bucket=self._bucket, Key=self._prefix + checked(key), Body=content, **conditions
        )

    def _sent(
        self, call: Callable[[], None], key: str, action: str,
        is_after: Callable[[Blob | None], bool], is_before: Callable[[Blob | None], bool],
    ) -> None:
        """Sends a write until its outcome is certain.

        is_after, is_before: whether an object is as the write leaves it, or as it was before it.
        """
        def send() -> WriteResult:
            call()
            return WriteResult.APPLIED

        verb = "delete" if "Delete" in action else "write"
        failed = self._failed(f"cannot {verb} {self.location}/{key}", self._prefix + key, action)
        retry = replace(self._retry, kind_of=_write_failure)
        if (
            retry.write(send, lambda: self._look(key, is_after, is_before), failed)
            is WriteResult.CONFLICT
        ):
            raise Moved(key)

    def _look(
        self, key: str, is_after: Callable[[Blob | None], bool],
        is_before: Callable[[Blob | None], bool],
    ) -> bool:
        """Whether a write whose answer was lost is in place."""
        try:
            now = self._read(key)
        except ReshardError as error:
            raise AnswerLost(
                f"writing {self.location}/{key}: the answer was lost, and then reading failed: "
                f"{error.what}", error.next
            ) from None
        if not is_after(now) and not is_before(now):
            raise AnswerLost(
                f"writing {self.location}/{key}: the answer was lost, and someone else has written "
                "since", INSPECT
            )
        return is_after(now)

    def _read(self, key: str) -> Blob | None:
        address = f"{self.location}/{key}"

        def get() -> tuple[Blob, bool] | None:
            try:
                answer = self._boto.get_object(Bucket=self._bucket, Key=self._prefix + key)
                return _got(answer, address), bool(answer.get("TagCount"))
            except client.CAUGHT as error:
                if kind_of(error) is Kind.ABSENT:
                    return None
                raise

        failed = self._failed(f"cannot read {address}", self._prefix + key, "s3:GetObject")
        found = self._retry.read(get, failed)
        if found is None or not found[1]:
            return found and found[0]
        try:
            tags = {"Tagging": self._tags(key)}
        except Refused:  # a read needs no tags, and a write asks for them again
            tags = {}
        return replace(found[0], kept={**(found[0].kept or {}), **tags})

    def _pages(self, prefix: str, address: str) -> Iterator[Mapping[str, Any]]:
        request = {"Bucket": self._bucket, "Prefix": prefix, "Delimiter": "/"}
        failed = self._failed(f"cannot list {address}", prefix, "s3:ListBucket")
        return s3.pages(self._boto, self._retry, request, failed)

    def _failed(self, what: str, key: str, action: str) -> Callable[[Exception], ReshardError]:
        """Makes the error to raise, as `Retry` asks. what: what cannot be done then."""
        return lambda error: s3.failure(
            error, kind_of(error), what, self._bucket, key, action
        )


def _write_failure(error: Exception) -> FailureKind:
    """The kind of a guarded write's error: an object that is gone was deleted by another."""
    kind = kind_of(error)
    return FailureKind.CONFLICT if kind is Kind.ABSENT else kind.failure


def _entries(page: Mapping[str, Any], prefix: str) -> Iterator[Entry]:
    """The entries of a page, with names as files have them.

    An object that stands for the folder itself is none, nor is a name with nothing before a slash.
    """
    for entry in page.get("CommonPrefixes", ()):
        name = entry["Prefix"][len(prefix):-1]
        if name not in ("", ".", ".."):
            yield Entry(name, folder=True)
    for entry in page.get("Contents", ()):
        name = entry["Key"][len(prefix):]
        if name in (".", ".."):
            yield Entry(name, unread="its name is no file's")
        elif name:
            yield Entry(name, False, entry["Size"], _nanoseconds(entry["LastModified"]))


def _got(answer: Mapping[str, Any], address: str) -> Blob:
    check_size(address, answer["ContentLength"])
    kept = {name: answer[name] for name in _KEPT if answer.get(name)}
    if isinstance(expires := answer.get("Expires"), datetime):
        kept["Expires"] = expires.isoformat()
    if answer.get("ServerSideEncryption") == "aws:kms":
        kept[_BUCKET_KEY] = bool(answer.get(_BUCKET_KEY))
    content: bytes = answer["Body"].read()
    return Blob(content, _nanoseconds(answer["LastModified"]), answer["ETag"], kept)


def _action(headers: Kept) -> str:
    """The action that is missing where a put is denied, most likely."""
    return "s3:PutObjectTagging" if headers.get("Tagging") else "s3:PutObject"


def _headers(key: str, kept: Kept) -> Kept:
    if unknown := kept.keys() - {*_KEPT, *_AS_TEXT, _BUCKET_KEY}:
        raise ValueError(f"{key}: an object is not stored with {sorted(unknown)[0]!r}")
    return kept


def _nanoseconds(when: Any) -> int:
    """A time in whole seconds, as nanoseconds: a listing and a header must agree."""
    return int(when.timestamp()) * 10**9


def _is(now: Blob | None, content: bytes) -> bool:
    return now is not None and now.content == content


def _absent(now: Blob | None) -> bool:
    return now is None
