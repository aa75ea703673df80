"""A metastore in PostgreSQL: a row per index, whose `index_metadata_json` holds the positions.

Quickwit takes `SELECT * FROM indexes WHERE index_id = $1 FOR UPDATE` before each change and keeps
nothing in memory (`postgres/metastore.rs` of 0.8.2 and 0.9.0; runs on both, Nov 2026). So do we:
under that lock the rows are compared with what was read, and our positions are put into the text as
it is then. Whatever Quickwit published meanwhile for other shards stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from reshardctl.errors import NotLoaded, Refused, UsageError
from reshardctl.model import Image, Step, Write
from reshardctl.model.files import refused
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.base import checked, holds
from reshardctl.stores.files.document import complaints_about
from reshardctl.stores.quickwit.indexes import (
    CodecOf,
    indexes_of,
    no_index,
    not_loaded,
    only_unloaded,
)
from reshardctl.stores.sql.server import Attempts, Described, Server, hidden, left_out

TABLE, MIGRATIONS = "indexes", "_sqlx_migrations"
UID, ID, TEXT = "index_uid", "index_id", "index_metadata_json"
TYPES = frozenset({"text", "json", "jsonb"})
"""Types of the column. Quickwit's own is text; the server keeps json as given, and normalises
jsonb."""
WRONG = "name the database of Quickwit's metastore_uri"


class _Row(Struct, frozen=True):
    """One index. text: "" for NULL, in a table that somebody altered."""

    index: str
    uid: str
    text: str


class Metastore:
    """See `Store`. The rows of every index that has a Kinesis source, or of the named one.

    A source's own row holds the last migration that was run (`migration`), which tells the release.
    """

    max_writes = 10_000

    def __init__(
        self, server: Server, sleep: Callable[[float], None], codec: CodecOf,
        enabled: Callable[[Image], bool], index: str, source: str = "",
    ) -> None:
        """Connects to nothing yet.

        codec: of an index's metadata. enabled: whether a source, by its own row, is switched on.
        """
        self._server = server
        self._attempts = Attempts(server, sleep)
        self._codec, self._enabled = codec, enabled
        self._index = index
        self._source = source
        self._off: set[str] = set()

    def identity(self) -> Mapping[str, str]:
        """Where the table is, and the uids of the indexes that were read."""
        return self._attempts.reading(self._identified, TABLE)

    def read(self) -> list[Image]:
        """Every row. UsageError if this is no metastore, or the named index is not in it."""
        rows = self._attempts.reading(self._every, TABLE)
        # A source that was switched off when it was read must still be off when it is written.
        self._off |= {row.key for row in rows if row.key.count("/") == 1 and not self._enabled(row)}
        return rows

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        return self._attempts.reading(lambda cursor: self._named(cursor, keys), TABLE)

    def write(self, step: Step, token: str) -> WriteResult:  # noqa: ARG002 - see Attempts
        """Makes all writes or none: they are of one index, and so of one text."""
        writes = checked(step, self.max_writes)
        of = sorted({write.key.partition("/")[0] for write in writes})
        if len(of) != 1:
            raise UsageError(
                f"a step writes {len(of)} indexes, each in a row of its own",
                "name one with index=INDEX",
            )
        try:
            return self._attempts.writing(
                step, lambda cursor: self._changed(cursor, of[0], writes), self.get
            )
        except Refused as refused:
            if refused.next.startswith("GRANT"):
                refused.next = "GRANT SELECT, UPDATE ON indexes to this user"
            raise

    def texts(self, keys: Collection[str]) -> Mapping[str, str]:
        """See `Texts`; by the uid of the index."""
        return {row.uid: row.text for row, _ in self._holding(keys)}

    def unreadable(self, keys: Collection[str]) -> Mapping[str, str]:
        """See `Texts`."""
        return {row.uid: wrong for row, wrong in self._holding(keys) if wrong}

    def text_rows(self, name: str, text: str) -> list[Image]:
        """See `Texts`."""
        row = _Row(name.partition(":")[0], name, text)
        return self._attempts.reading(
            lambda cursor: self._images(row, self._migration(cursor)), TABLE
        )

    def restore(self, name: str, text: str) -> WriteResult:
        """See `Texts`."""
        index = name.partition(":")[0]

        def put(cursor: Any) -> bool:
            table = self._described(cursor)
            rows = [row for row in self._rows(cursor, index, lock=True) if row.uid == name]
            return any(self._wrong(row) for row in rows) and self._put(cursor, table, name, text)

        return self._attempts.writing(Step(f"the text of {index}", ()), put, self.get)

    def _holding(self, keys: Collection[str]) -> list[tuple[_Row, str]]:
        """The rows of these indexes, each with what is wrong with it, "" for nothing."""
        return self._attempts.reading(lambda cursor: [
            (row, self._wrong(row))
            for index in indexes_of(keys) for row in self._rows(cursor, index)
        ], TABLE)

    def _wrong(self, row: _Row) -> str:
        try:
            images = self._images(row, 0)
        except UsageError as error:
            return error.what
        return next(map(refused, images), "")

    def _put(self, cursor: Any, table: Described, uid: str, text: str) -> bool:
        """Writes a text. Refused if the row holds another one then, before the commit."""
        cursor.execute(
            f"UPDATE {self._name(TABLE)} SET {TEXT} = %s::{_type(table)} "  # noqa: S608
            f"WHERE {UID} = %s", [text, uid],
        )
        (row,) = self._rows(cursor, uid.partition(":")[0])
        normalised = _type(table) == "jsonb"
        if row.text != text and not (normalised and json.loads(row.text) == json.loads(text)):
            raise left_out(f"{self._where(row.index)} would keep another text")
        return True

    def _changed(self, cursor: Any, index: str, writes: Sequence[Write]) -> bool:
        table = self._described(cursor)
        (row,) = self._rows(cursor, index, lock=True) or (None,)
        if row is None:
            if self._rows(cursor, index):
                raise hidden(self._where(index))
            return False
        codec = self._codec("", "", False)
        with complaints_about(self._where(row.index)):
            images = {image.key: image for image in codec.images(row.text)}
        if not all(holds(write, images.get(write.key)) for write in writes):
            return False
        if self._on_again(images, writes):
            return False
        with complaints_about(self._where(row.index)):
            new = codec.written(row.text, writes)
        return self._put(cursor, table, row.uid, new)

    def _on_again(self, images: Mapping[str, Image], writes: Sequence[Write]) -> bool:
        sources = {"/".join(write.key.split("/", 2)[:2]) for write in writes}
        return any(self._enabled(images[source]) for source in sources & self._off & images.keys())

    def _identified(self, cursor: Any) -> Mapping[str, str]:
        table = self._described(cursor)
        uids = {
            row.attributes["index_uid"]["S"]
            for row in self._every(cursor) if "index_uid" in row.attributes
        }
        identity = {
            "medium": "quickwit-postgres", "arn": table.address, "created": table.created,
        }
        return {**identity, "indexes": ", ".join(sorted(uids))}

    def _every(self, cursor: Any) -> list[Image]:
        self._described(cursor)
        mark = self._migration(cursor)
        rows = self._rows(cursor, self._index)
        if self._index and not rows:
            known = [row.index for row in self._rows(cursor, "")]
            raise no_index(self._server.location, self._index, known)
        images: list[Image] = []
        refusals: list[UsageError] = []
        for row in rows:
            try:
                images += self._images(row, mark, self._source, needed=bool(self._index))
            except UsageError as error:
                if self._index and not isinstance(error, NotLoaded):
                    raise
                refusals.append(error)
                images.append(not_loaded(row.index, error))
        if not any("/" in image.key for image in images) and not only_unloaded(refusals):
            raise self._nothing(images)
        return sorted(images, key=lambda image: image.key)

    def _named(self, cursor: Any, keys: Sequence[str]) -> dict[str, Image | None]:
        images: dict[str, Image | None] = dict.fromkeys(keys)
        if not keys:
            return images
        self._described(cursor)
        mark = self._migration(cursor)
        for index in indexes_of(keys):
            for row in self._rows(cursor, index):
                for image in self._images(row, mark):
                    if image.key in images:
                        images[image.key] = image
        return images

    def _images(
        self, row: _Row, mark: int, source: str = "", needed: bool = False
    ) -> list[Image]:
        codec = self._codec("", source if needed else "", needed)
        with complaints_about(self._where(row.index)):
            uid = codec.identity(row.text)["index_uid"]
        if uid != row.uid or uid.partition(":")[0] != row.index:
            raise UsageError(
                f"{self._where(row.index)}: its text is of {uid}, its row of {row.uid}: every "
                "write of Quickwit's fails there", "restore the row from a backup",
            )
        with complaints_about(self._where(row.index)):
            images = codec.images(row.text)
        return [
            Image(image.key, {**image.attributes, "migration": {"N": str(mark)}})
            if image.key.count("/") == 1 else image
            for image in images
        ]

    def _rows(self, cursor: Any, index: str, *, lock: bool = False) -> list[_Row]:
        """The rows of this index, or of all. UsageError for an id that occurs twice."""
        where, values = (f" WHERE {ID} = %s", [index]) if index else ("", [])
        cursor.execute(
            f"SELECT {ID}, {UID}, {TEXT}::text FROM {self._name(TABLE)}{where} "  # noqa: S608
            f"ORDER BY {ID}, {UID}{' FOR UPDATE' if lock else ''}", values,
        )
        rows = [_Row(index, uid, text or "") for index, uid, text in cursor.fetchall()]
        for row, following in pairwise(rows):
            if row.index == following.index:
                raise UsageError(
                    f"{self._where(row.index)} is there twice, as {row.uid} and {following.uid}",
                    "delete the row of the index that is gone",
                )
        return rows

    def _migration(self, cursor: Any) -> int:
        """The last migration that was run."""
        if self._server.described(cursor, MIGRATIONS) is None:
            raise self._no_metastore(f"has no table {MIGRATIONS}")
        cursor.execute(f"SELECT max(version) FROM {self._name(MIGRATIONS)}")  # noqa: S608
        (newest,) = cursor.fetchone()
        if newest is None:
            raise self._no_metastore(f"has nothing in {MIGRATIONS}")
        return int(newest)

    def _described(self, cursor: Any) -> Described:
        table = self._server.described(cursor, TABLE)
        if table is None:
            raise self._no_metastore(f"has no table {TABLE}")
        there = {column.name for column in table.columns}
        if missing := [name for name in (UID, ID, TEXT) if name not in there]:
            raise self._no_metastore(f"table {TABLE} has no column {missing[0]}")
        _type(table)
        return table

    def _no_metastore(self, why: str) -> UsageError:
        return UsageError(f"{self._server.location} is no metastore of Quickwit: {why}", WRONG)

    def _nothing(self, images: Sequence[Image]) -> UsageError:
        if images:
            return UsageError(images[0].attributes["unreadable"]["S"], "mend the row")
        return UsageError(f"{self._server.location}: no index here has a Kinesis source", WRONG)

    def _name(self, table: str) -> str:
        return self._server.named(table)

    def _where(self, index: str) -> str:
        return f"{self._server.location}, index {index}"


def _type(table: Described) -> str:
    (kind,) = (column.type for column in table.columns if column.name == TEXT)
    if kind not in TYPES:
        raise UsageError(
            f"{table.address}: column {TEXT} is {kind}, no text of Quickwit's", WRONG
        )
    return kind
