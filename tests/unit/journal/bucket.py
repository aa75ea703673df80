"""A bucket of moto's S3, logs in it, and clients that fail where they are told."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from reshardctl.execution.undo import undo_steps
from reshardctl.journal import Journal, S3Object, read
from reshardctl.journal.s3 import S3Log
from reshardctl.planning.writes import rebase
from reshardctl.stores.base import Store
from tests.support.faults import FaultySession
from tests.support.lease_server import REGION, session
from tests.support.plans import (
    MOVING,
    RESTORE,
    Killed,
    Plan,
    apply,
    checked,
    header,
    resume,
)

_names = itertools.count()


class Bucket:
    """A bucket of its own; `log` opens the one journal in it as a process of its own would."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.name = f"bucket-{next(_names)}"
        self.boto = session().client("s3", endpoint_url=url, region_name=REGION)
        self.boto.create_bucket(Bucket=self.name)
        self.where = S3Object(self.name, "ops/a journal.jsonl")
        self.slept: list[float] = []

    def faulty(self) -> FaultySession:
        return FaultySession(session())

    def log(self, boto_session: Any = None, client: Any = None) -> S3Log:
        if client is None:
            client = (boto_session or session()).client("s3", endpoint_url=self.url)
        return S3Log(client, self.where, self.slept.append, f"w{next(_names)}")

    def put(self, content: bytes | None) -> None:
        """Write the object as another process would."""
        self.boto.put_object(Bucket=self.name, Key=self.where.key, Body=content)

    def pull(self) -> None:
        self.boto.delete_object(Bucket=self.name, Key=self.where.key)

    def content(self) -> bytes | None:
        """The object's bytes, None when there is none."""
        found = self.boto.list_objects_v2(Bucket=self.name).get("Contents", ())
        if self.where.key not in {one["Key"] for one in found}:
            return None
        body: bytes = self.boto.get_object(Bucket=self.name, Key=self.where.key)["Body"].read()
        return body


Place = Path | S3Log
"""Where a journal is: a file, or a log of a bucket."""


def begin(plan: Plan, medium: Store, log: Place) -> None:
    """A fix, journaled there."""
    with Journal.create(log, header(plan, medium)) as journal:
        apply(plan.steps, medium, journal, check=checked(plan))
        journal.verified()


def go_on(medium: Store, log: Place) -> None:
    """What `fix --resume` does."""
    journal, records = Journal.open(log)
    with journal:
        resume(journal, records, medium, volatile_attributes=MOVING)


def go_back(medium: Store, place: Path | Bucket) -> None:
    """What `undo` does: resume one that was begun, else begin one."""

    def opened() -> Place:
        return place.log() if isinstance(place, Bucket) else place

    records = read(opened())
    if records.undo is not None:
        go_on(medium, opened())
    else:
        rows = {image.key: image for image in medium.read()}
        steps = undo_steps(records, rows, RESTORE, MOVING)
        journal, _ = Journal.open(opened())
        with journal:
            journal.begin_undo(steps)
            apply(steps, medium, journal, check=lambda now: rebase(steps, now, MOVING))
    journal, _ = Journal.open(opened())
    with journal:
        journal.undone()


class KillingClient:
    """An S3 client at whose n-th put the process is killed, before or after S3 has it."""

    def __init__(self, boto: Any, at: int, when: str) -> None:
        self._boto = boto
        self._left = at
        self._when = when
        self.meta, self.get_object = boto.meta, boto.get_object

    def put_object(self, **arguments: Any) -> Any:
        self._left -= 1
        if self._left == -1 and self._when == "before":
            raise Killed
        answer = self._boto.put_object(**arguments)
        if self._left == -1:
            raise Killed
        return answer
