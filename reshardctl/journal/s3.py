"""A log in one S3 object, replaced as a whole, each time only if it is as we left it.

The first put says If-None-Match: *, every later one If-Match with the ETag of the one before ("How
to prevent object overwrites with conditional writes", Amazon S3 User Guide: If-None-Match since
August 2024, If-Match since November 2024). S3 answers a put only when the object is stored and
reads are strongly consistent since December 2020, so an answered put is durable and visible. A
second writer gets a 412 before it writes a row. The bytes are those of a journal in a file: `aws s3
cp` makes one of the other. botocore sends a CRC with each put, which S3 checks.

Journals of a bucket are listed here too, and errors of S3 put into words.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from reshardctl.aws import s3
from reshardctl.aws.s3 import Kind, kind_of
from reshardctl.errors import INSPECT, NoJournal, ReshardError, UsageError
from reshardctl.journal.log import S3Object, existing
from reshardctl.model.retry import Retry
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.given_file import refuse_larger

ACTIONS = ("s3:GetObject", "s3:ListBucket", "s3:PutObject")
"""The actions on the object that a journal on S3 needs, and s3:ListBucket on the bucket, without
which S3 answers 403 for an absent object."""

PRUNING = ("s3:DeleteObject", "s3:GetObject", "s3:ListBucket")
"""What `undo --prune` needs of a bucket."""
VERBS = {"s3:PutObject": "write", "s3:DeleteObject": "delete"}


def listed(boto: Any, prefix: S3Object, sleep: Callable[[float], None]) -> list[str]:
    """All keys below a prefix, in order."""
    folder = prefix.key.rstrip("/")
    request = {"Bucket": prefix.bucket, "Prefix": f"{folder}/" if folder else ""}
    pages = s3.pages(
        boto, s3.retry(boto, sleep), request,
        lambda error: failure(error, kind_of(error), prefix, "s3:ListBucket"),
    )
    return [stored["Key"] for page in pages for stored in page.get("Contents", ())]


def failure(error: Exception, kind: Kind, where: S3Object, action: str) -> ReshardError:
    """The exception to raise for what boto3 raised, with the next thing to do.

    A refused put is Refused, a refused read CannotTell.
    """
    what = f"cannot {VERBS.get(action, 'read')} journal {where}"
    if kind is Kind.ABSENT:
        return UsageError(f"{what}: the object was deleted in the meantime", INSPECT)
    failed = s3.failure(error, kind, what, where.bucket, where.key, action)
    if kind is Kind.NO_BUCKET:
        failed.next += ", or keep the journal in a file: --journal FILE"
    return failed


def taken(where: S3Object) -> UsageError:
    """The error for an object that is not as we left it."""
    return UsageError(
        f"journal {where} is in use by another reshardctl", "wait until that one has ended"
    )


WRITER = "writer"
"""User-defined metadata of the object: which attempt put it."""


class S3Log:
    """See `Log`. The first bytes are kept back until they guard something.

    A fix that stops before its first write leaves no object.
    """

    def __init__(
        self, boto: Any, where: S3Object, sleep: Callable[[float], None], writer: str
    ) -> None:
        """Calls nothing yet.

        boto: an S3 client without retries of its own. writer: a name no other process has.
        """
        self.where = where
        self._boto = boto
        self._retry = s3.retry(boto, sleep)
        self._writer = writer
        self._puts = 0
        self._content = b""
        self._stored = 0
        self._tag: str | None = ""
        """ETag of the object as we left it, "" when there is none yet, None when we cannot say."""

    def create(self, content: bytes) -> None:
        """Keeps the bytes; nothing is called before the first `append`."""
        self._content = content

    def open(self) -> bytes:
        """Reads the object; of two writers, the first to put wins."""
        self._content, self._tag, _ = self._get()
        self._stored = len(self._content)
        return self._content

    def read(self) -> bytes:
        """Reads the object by one GetObject."""
        return self._get()[0]

    def append(self, content: bytes, *, sync: bool) -> None:
        """Puts the whole object if `sync`; otherwise the bytes wait for the next put."""
        whole = self._content + content
        if sync:
            self._put(whole)
            self._stored = len(whole)
        self._content = whole

    def cut(self, size: int) -> None:
        """Shortens the object with the next put."""
        self._content = self._content[:size]
        self._stored = min(self._stored, size)

    def discard(self) -> None:
        """Does nothing: there is no object before the first write is guarded."""

    def delete(self) -> None:
        """Deletes the object if it is as it was opened.

        A general purpose bucket compares the ETag itself ("How to perform conditional deletes",
        Amazon S3 User Guide).
        """
        tag = self._tag or ""

        def sent() -> WriteResult:
            self._boto.delete_object(Bucket=self.where.bucket, Key=self.where.key, IfMatch=tag)
            return WriteResult.APPLIED

        def failed(error: Exception) -> ReshardError:
            return failure(error, kind_of(error), self.where, "s3:DeleteObject")

        ended = self._retry.write(sent, self._gone, failed, lambda error: error)
        if ended is WriteResult.CONFLICT:
            raise taken(self.where)

    def _gone(self) -> bool | None:
        """Whether there is no object any more; `None` if S3 does not say."""
        try:
            self._get(replace(self._retry, pauses=()))
        except NoJournal:
            return True
        except ReshardError:
            return None
        return False

    def close(self) -> None:
        """Puts the waiting bytes if S3 accepts them; the rows themselves tell as much."""
        if self._tag and self._stored < len(self._content):
            with suppress(ReshardError):
                self._put(self._content)
                self._stored = len(self._content)

    def _put(self, whole: bytes) -> None:
        """Puts the whole object if it is still as we left it, until the outcome is certain.

        UsageError if another writer came first, Refused if S3 says no, NoJournal if the object is
        gone. CannotTell if the outcome stays unknown: the next put reads the ETag first.
        """
        if self._tag is None:
            self._read_tag_again()
        self._puts += 1
        name, tag = f"{self._writer}-{self._puts}", self._tag

        def put() -> WriteResult:
            self._tag = self._sent(whole, name, tag)
            return WriteResult.APPLIED

        def failed(error: Exception) -> ReshardError:
            kind = kind_of(error)
            if kind is Kind.MOVED:  # perhaps by the put whose answer was lost
                kind = Kind.LOST
            return failure(error, kind, self.where, "s3:PutObject")

        ended = self._retry.write(put, lambda: self._in_place(name), failed, lambda error: error)
        if ended is WriteResult.CONFLICT:
            raise taken(self.where) if tag else self._existing()

    def _existing(self) -> UsageError:
        """The error for an object where there was to be none."""
        try:
            return existing(self.where, self._get()[0])
        except ReshardError:
            return existing(self.where, None)

    def _sent(self, whole: bytes, name: str, tag: str | None) -> str:
        """Puts the object if its ETag is still `tag` ("" for absent), and returns the new ETag."""
        condition = {"IfMatch": tag} if tag else {"IfNoneMatch": "*"}
        answer = self._boto.put_object(
            Bucket=self.where.bucket, Key=self.where.key, Body=whole,
            ContentType="application/jsonl", Metadata={WRITER: name}, **condition,
        )
        return str(answer["ETag"])

    def _in_place(self, name: str) -> bool | None:
        """Whether the object is what this put made of it; `None` if S3 does not say.

        The answer of the put was lost: its ETag is known again only if the object is the put's.
        """
        self._tag = None
        try:
            _, tag, writer = self._get(replace(self._retry, pauses=()))
        except NoJournal:
            return False
        except ReshardError:
            return None
        if writer == name:
            self._tag = tag
        return writer == name

    def _read_tag_again(self) -> None:
        """Reads the ETag again after a put that may be in place; it guarded nothing."""
        try:
            content, tag, writer = self._get()
        except NoJournal:
            if self._stored:
                raise
            self._tag = ""
            return
        ours = writer.startswith(f"{self._writer}-")
        if not ours and content != self._content[: self._stored]:
            raise taken(self.where)
        self._tag = tag

    def _get(self, retry: Retry | None = None) -> tuple[bytes, str, str]:
        """Bytes, ETag and writer of the object. NoJournal where there is none."""
        listing = _LIST.format(self.where.bucket)

        def get() -> tuple[bytes, str, str]:
            answer = self._boto.get_object(Bucket=self.where.bucket, Key=self.where.key)
            refuse_larger(f"journal {self.where}", answer["ContentLength"], listing)
            content: bytes = answer["Body"].read()
            return content, str(answer["ETag"]), answer.get("Metadata", {}).get(WRITER, "")

        def failed(error: Exception) -> ReshardError:
            kind = kind_of(error)
            if kind is Kind.ABSENT:
                return NoJournal(
                    f"cannot read journal {self.where}: there is no such object",
                    listing,
                )
            return failure(error, kind, self.where, "s3:GetObject")

        return (retry or self._retry).read(get, failed)


_LIST = "reshardctl undo --list s3://{}"
