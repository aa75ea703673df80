"""Every kind of text that a store may hold for a shard, and what each library's judgement of it is.

One line a text. Its first part says what the text is and where it is known from (runs and sources
of the libraries, the API reference); the second, for each of five listings of the shard,
six letters: what KCL, kinsumer, kinesis-consumer and Quickwit take it for, and whether it alone
makes the store another stream's, for all and for Quickwit.

    S the shard's beginning    N a record's number     E the shard's end    L the tip
    A from the future          F of no record of it    X no number          T by time
    D KCL's own end mark       M Quickwit's end mark   U never read         - not asked
    w another stream's         . not
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.consumers.kcl.processed import kind_of as of_kcl
from reshardctl.consumers.kinsumer.consumer import Kinsumer
from reshardctl.consumers.kinsumer.rows import kind_of as of_kinsumer
from reshardctl.consumers.quickwit.consumer import Quickwit
from reshardctl.consumers.quickwit.rows import position_of
from reshardctl.consumers.sequence_numbers import classify, earlier_incarnation, of_wrong_stream
from reshardctl.lineage import Lineage
from reshardctl.model import Image, shard_id
from reshardctl.testing.shards import SequenceNumber, end, start
from tests.support.judging import shard_of
from tests.support.lineages import CREATED, STREAM

SHARD, EPOCH, NOW, YEAR = shard_id(0), CREATED - 3, CREATED + 3600, 365 * 86_400


def number(epoch: int, time: int, shard: int = 0) -> str:
    return str(SequenceNumber(epoch, 9, time, shard))


LISTINGS = {
    "open": (0, str(start(0, EPOCH)), None),
    "closed": (0, str(start(0, EPOCH)), str(end(0, EPOCH, CREATED + 120))),
    # kinesis-mock, LocalStack: numbers as AWS's, and one end for all (consumers.md, kcl.md 7.3).
    "kinesis-mock": (0, str(start(0, EPOCH)), "9223372036854775807"),
    # moto: small integers, the first and the last of them records' (consumers.md).
    "moto": (0, "1", "10"),
    # The shard is not listed any more: its number is taken at its word.
    "unlisted": (1, str(start(1, EPOCH)), None),
}
RECORD = number(EPOCH, CREATED + 60)

TABLE = [
    # consumers.md: a sentinel that no record has; AFTER it is TRIM_HORIZON. KCL asks AT it.
    (str(start(0, EPOCH)), "NSSS.. NSSS.. FSSS.. FFFEw. NNN-.."),
    # kcl.md 4.4, consumers.md: the last record that was processed; read on after it.
    (RECORD, "NNNN.. NNNN.. FFFEw. FFFEw. NNN-.."),
    # kcl.md 9.1 g; consumers.md "e row = EndingSequenceNumber"; quickwit.md 8.3. Its index is the
    # highest there is, so that it is no record's on an open shard either.
    (str(end(0, EPOCH, CREATED + 120)), "NNNF.. EEEE.. FFFEw. FFFEw. NNN-.."),
    (str(end(0, EPOCH, CREATED + 60)), "NNNF.. NNNF.. FFFEw. FFFEw. NNN-.."),
    # kcl.md 4.5: a recreated stream's shard has the same id, another range and later times.
    (number(CREATED + 600, CREATED + 700), "NNNN.. FFFFww FFFEw. FFFEw. NNN-.."),
    # kcl.md 5 F8, 9.1 h; consumers.md "f number of another shard, or of an older incarnation".
    (number(CREATED - 90_000, CREATED - 80_000), "FFFF.. FFFF.. FFFF.. FFFE.. NNN-.."),
    # The same of a stream that was deleted half a minute before this one was made.
    (number(CREATED - 90, CREATED - 30), "FFFF.. FFFF.. FFFF.. FFFEw. NNN-.."),
    (number(CREATED - 90, CREATED - 30, shard=9), "FFFF.. FFFF.. FFFF.. FFFF.. FFF-.."),
    (number(EPOCH, CREATED + 60, shard=1), "FFFFww FFFFww FFFFww FFFFww FFF-.."),
    (number(EPOCH, CREATED + 60, shard=9), "FFFFww FFFFww FFFFww FFFFww FFF-ww"),
    # A clock that was wrong, or a forger: in the range and from the future, of no record.
    (number(EPOCH, NOW + 3600), "AAAA.. AAAA.. FFFEw. FFFEw. AAA-.."),
    (str(end(0, EPOCH, NOW + 3600)), "AAAF.. FFFFw. FFFEw. FFFEw. AAA-.."),
    (number(CREATED + YEAR, CREATED + YEAR), "FFFF.. FFFFww FFFFw. FFFFw. AAA-.."),
    # Other numbers by the pattern of the API reference: not laid out as the shard's own.
    (RECORD + "7", "FFFF.. FFFF.. FFFF.. FFFE.. NNN-.."),
    (RECORD[:-1], "FFFF.. FFFF.. FFFF.. FFFE.. NNN-.."),
    ("0", "FFFF.. FFFF.. FFFF.. FFFF.. NNN-.."),
    ("5", "FFFF.. FFFF.. FFFF.. NNNN.. NNN-.."),
    ("10", "FFFF.. FFFF.. FFFF.. EEEE.. NNN-.."),
    ("11", "FFFF.. FFFF.. FFFF.. FFFE.. NNN-.."),
    # runs.md: a checkpoint with leading zeros is refused (ValidationException), blanks likewise.
    ("0" + RECORD, "XXXX.. XXXX.. XXXX.. XXXX.. XXX-.."),
    (" " + RECORD, "XXXX.. XXXX.. XXXX.. XXXX.. XXX-.."),
    # SentinelCheckpoint of KCL; kinsumer's "LATEST" (consumers.md, row g); to the others no number,
    # and no end either (quickwit.md R5: such a word stalls the shard).
    ("TRIM_HORIZON", "SXXX.. SXXX.. SXXX.. SXXX.. SXX-.."),
    ("LATEST", "LLXX.. LLXX.. LLXX.. LLXX.. LLX-.."),
    ("AT_TIMESTAMP", "TXXX.. TXXX.. TXXX.. TXXX.. TXX-.."),
    ("SHARD_END", "DXXX.. DXXX.. DXXX.. DXXX.. DXX-.."),
    # quickwit.md 8: `~` marks an end of Quickwit's own, which panics its Kinesis source.
    ("~", "XXXM.. XXXM.. XXXM.. XXXM.. XXX-.."),
    ("~" + RECORD, "XXXM.. XXXM.. XXXM.. XXXM.. XXX-.."),
    # An empty text: never published (quickwit.md 2), never read (kinsumer's NULL).
    ("", "XUXS.. XUXS.. XUXS.. XUXS.. XUX-.."),
]
LETTERS = {
    "start": "S", "number": "N", "inside": "N", "at-end": "E", "end": "E", "ahead": "A",
    "foreign": "F", "before-start": "F", "after-end": "F", "other-shard": "F", "nonsense": "X",
    "not-a-number": "X", "latest": "L", "by-time": "T", "end-mark": "M", "unread": "U",
}


def listing(name: str) -> Lineage:
    index, first, last = LISTINGS[name]
    numbers = {"StartingSequenceNumber": first} | ({"EndingSequenceNumber": last} if last else {})
    listed = {
        "ShardId": shard_id(index), "SequenceNumberRange": numbers,
        "HashKeyRange": {"StartingHashKey": "0", "EndingHashKey": str(2**128 - 1)},
    }
    return Lineage(STREAM, [shard_of(listed)]).as_of(NOW)


def judged(lineage: Lineage, text: str) -> str:
    """The six letters."""
    item: dict[str, Mapping[str, Any]] = {
        "leaseKey": {"S": SHARD}, "leaseCounter": {"N": "1"}, "checkpoint": {"S": text},
    }  # fmt: skip
    lease = of_kcl(lineage, Kcl().parse([Image(SHARD, item)]).rows[SHARD]).value
    item = {"Shard": {"S": SHARD}, "SequenceNumber": {"S": text}}
    row = Kinsumer().parse([Image(f"checkpoints/{SHARD}", item)]).rows[SHARD]
    letters = [
        "D" if lease == "end" else LETTERS[lease],
        LETTERS[of_kinsumer(lineage, row).value],
        LETTERS[classify(lineage, SHARD, text).value],
        LETTERS[position_of(lineage, SHARD, text).kind.value] if SHARD in lineage else "-",
    ]
    wrong = (of_wrong_stream, Quickwit().of_wrong_stream)
    return "".join([*letters, *("w" if of(lineage, {SHARD: text}) else "." for of in wrong)])


@pytest.mark.parametrize(("text", "expected"), TABLE, ids=[text or "empty" for text, _ in TABLE])
def test_what_each_library_takes_a_text_for(text, expected):
    assert [judged(listing(name), text) for name in LISTINGS] == expected.split()


def test_only_a_number_older_than_the_stream_is_of_an_earlier_one():
    older = {text for text, _ in TABLE if earlier_incarnation(listing("open"), text)}
    assert older == {
        number(CREATED - 90_000, CREATED - 80_000), number(CREATED - 90, CREATED - 30),
        number(CREATED - 90, CREATED - 30, shard=9),
    }
