"""A file-backed metastore: a folder per index, with one text of all that Quickwit knows of it.

The consumer knows how that text becomes rows, and passes it in.

Layout: `file_backed/store_operations.rs` of 0.8.2 and 0.9.0, `<root>/<index_id>/metastore.json`.
Quickwit keeps what it has read in memory and writes whole files from there, without lock or
condition: it overwrites whatever is written here, unless every node that runs the metastore is
stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from reshardctl.errors import NoStore, NotLoaded, ReshardError, UsageError
from reshardctl.model import Image, Step
from reshardctl.model.files import Codec
from reshardctl.model.phrases import did_you_mean, listed
from reshardctl.model.write_state import WriteResult
from reshardctl.stores.files.blobs import Blobs, split
from reshardctl.stores.files.document import Document, complaints_about

CodecOf = Callable[[str, str, bool], Codec]
"""(index, source, needed) → the codec of that index's text.

index: the index that the text must be of, "" for any. source: the only one that is wanted, "" for
every Kinesis source. needed: whether a text without a wanted source is refused."""


def indexes_of(keys: Iterable[str]) -> list[str]:
    """The indexes of these rows, in order."""
    return sorted({key.partition("/")[0] for key in keys})


def not_loaded(index: str, error: UsageError) -> Image:
    """The one row of an index whose text cannot be read: why."""
    return Image(index, {"unreadable": {"S": error.what}})


def no_index(location: str, index: str, known: Sequence[str]) -> UsageError:
    """The error for an index that a metastore does not have. known: those that it has."""
    return UsageError(
        f"{location}: there is no index {index}",
        did_you_mean(index, known, f"it holds: {listed(known, 5) or 'none'}"),
    )


def only_unloaded(errors: Sequence[UsageError]) -> bool:
    """Whether there are such errors, and Quickwit itself loads none of these texts."""
    return bool(errors) and all(isinstance(error, NotLoaded) for error in errors)


NAME = "metastore.json"
MANIFESTS = {"manifest.json", "indexes_states.json"}
"""Files beside the folders of the indexes: of 0.8 and later, and of earlier releases."""


class Indexes:
    """See `Store`. The rows of every index that has a Kinesis source, or of the named one.

    An index whose text cannot be read is a row of its own, `INDEX` alone, with the reason.
    """

    max_writes = Document.max_writes

    def __init__(self, blobs: Blobs, codec: CodecOf, index: str, source: str = "") -> None:
        """codec: of an index's file. Touches nothing yet."""
        self._blobs = blobs
        self._codec = codec
        self._index = index
        self._source = source

    def identity(self) -> Mapping[str, str]:
        """Where the metastore is, and the uids of the indexes that were read."""
        if self._index:
            with suppress(NotLoaded), self._naming_others():
                return self._document(self._index).identity()
        identity = {n: v for n, v in self._blobs.identity().items() if n != "inode"}
        uids = {
            image.attributes["index_uid"]["S"]
            for image in self.read() if "index_uid" in image.attributes
        }
        return {**identity, "indexes": ", ".join(sorted(uids))}

    def read(self) -> list[Image]:
        """Every row. UsageError if this is no metastore, or the named index is not in it."""
        if self._index:
            try:
                with self._naming_others():
                    return self._document(self._index).read()
            except NotLoaded as error:
                return [not_loaded(self._index, error)]
        rows: list[Image] = []
        refusals: list[UsageError] = []
        for index, content in self._texts():
            try:
                rows += self._rows(index, content)
            except UsageError as error:
                refusals.append(error)
                rows.append(not_loaded(index, error))
        if not any("/" in row.key for row in rows) and not only_unloaded(refusals):
            raise self._nothing(refusals)
        return sorted(rows, key=lambda row: row.key)

    def get(self, keys: Sequence[str]) -> dict[str, Image | None]:
        """The named rows as they are now."""
        rows: dict[str, Image | None] = {}
        for index in indexes_of(keys):
            here = [key for key in keys if key.partition("/")[0] == index]
            rows |= self._document(index, needed=False).get(here)
        return rows

    def write(self, step: Step, token: str) -> WriteResult:
        """Makes all writes or none: they are of one index, and so of one file."""
        of = {write.key.partition("/")[0] for write in step.writes}
        if len(of) != 1:
            raise UsageError(
                f"a step writes {len(of)} indexes, each in a file of its own",
                "name one with index=INDEX",
            )
        return self._document(of.pop(), needed=False).write(step, token)

    def texts(self, keys: Collection[str]) -> Mapping[str, str]:
        """See `Texts`."""
        return {n: text for document in self._holding(keys) for n, text in document.texts().items()}

    def unreadable(self, keys: Collection[str]) -> Mapping[str, str]:
        """See `Texts`."""
        documents = self._holding(keys)
        return {n: why for document in documents for n, why in document.unreadable().items()}

    def text_rows(self, name: str, text: str) -> list[Image]:
        """See `Texts`."""
        return self._document(split(name)[0]).text_rows(text)

    def restore(self, name: str, text: str) -> WriteResult:
        """See `Texts`."""
        return self._document(split(name)[0], needed=False).restore(text)

    def _holding(self, keys: Collection[str]) -> list[Document]:
        return [self._document(index, needed=False) for index in indexes_of(keys)]

    def recover(self) -> None:
        """See `Recovering`."""
        with self._blobs.writing():
            pass

    def _document(self, index: str, needed: bool = True) -> Document:
        source = self._source if needed else ""
        return Document(self._blobs, f"{index}/{NAME}", self._codec(index, source, needed))

    @contextmanager
    def _naming_others(self) -> Iterator[None]:
        """A missing file of the named index in a metastore that has others is a mistyped name."""
        try:
            yield
        except NoStore:
            known = []
            with suppress(ReshardError):
                known = [index for index, _ in self._texts()]
            if not known:
                raise
            raise no_index(self._blobs.location, self._index, known) from None

    def _texts(self) -> Iterator[tuple[str, bytes]]:
        """Each index with its file, in order, one at a time: they may be large."""
        entries = self._blobs.list("") or ()
        any_there = bool(MANIFESTS & {entry.name for entry in entries})
        for index in sorted(entry.name for entry in entries if entry.folder):
            key = f"{index}/{NAME}"
            if (blob := self._blobs.read([key])[key]) is not None:
                any_there = True
                yield index, blob.content
        if not any_there:
            raise UsageError(
                f"{self._blobs.location}: holds no {NAME} of an index, nor a manifest.json",
                "name the folder that metastore_uri names, or <data_dir>/indexes where none is set",
            )

    def _rows(self, index: str, content: bytes) -> list[Image]:
        with complaints_about(f"{self._blobs.location}/{index}/{NAME}"):
            return self._codec(index, "", False).images(content.decode())

    def _nothing(self, refusals: Sequence[UsageError]) -> UsageError:
        if refusals:
            more = f" (and {len(refusals) - 1} more like it)" if len(refusals) > 1 else ""
            return UsageError(f"{refusals[0].what}{more}", refusals[0].next)
        return UsageError(
            f"{self._blobs.location}: no index here has a Kinesis source",
            "name another metastore",
        )
