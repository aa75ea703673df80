"""What a row of the tables of deviations says, and where it knows from what AWS answers.

Each emulator has a table: tests/proof/libraries/kinesis_local/deviations.py and ferrokinesis/.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Wrong(Enum):
    """Who answers otherwise than AWS."""

    THEM = "the emulator"
    US = "FakeKinesis"
    BOTH = "the emulator and FakeKinesis"
    UNKNOWN = "nobody has said what AWS answers"


@dataclass(frozen=True)
class Deviation:
    """Both answers to one question, and who says what AWS answers."""

    theirs: Any
    ours: Any
    wrong: Wrong
    source: str


Deviations = dict[tuple[str, str], Deviation]
"""By scene and question."""

ACCEPTED = "accepted"
INVALID = "InvalidArgumentException"
ABSENT = "ResourceNotFoundException"
IN_USE = "ResourceInUseException"
MALFORMED = "SerializationException"
CONSTRAINT = "ValidationException"


def reference(action: str, what: str) -> str:
    """The Kinesis API reference, docs.aws.amazon.com/kinesis/latest/APIReference."""
    return f"API_{action}.html: {what}"


def tried(file: str, what: str) -> str:
    """A test of mhart/kinesalite at c76689d; with REMOTE=1 they run against AWS."""
    return f"kinesalite, test/{file}.js: {what}"


NUMBERS = "77 numbers of public streams, tests/golden/sequence_numbers.json"
CLOSED = "recorded answer of AWS, mhart/kinesalite#109: already merged or split"
UNSAID = "the API reference does not say"
