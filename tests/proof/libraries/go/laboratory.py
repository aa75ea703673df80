"""Puts a real Go library into situations, several at a time, and keeps what came of each."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

from reshardctl.model import Image
from reshardctl.testing.service import Settings
from tests.cli.lab import option_words
from tests.proof.libraries.go.left import rows_left
from tests.proof.libraries.go.library import Library, despite_accidents, observed
from tests.proof.libraries.go.situations import POSITIONS, ROBBED, TELEGRAF, Situation, State
from tests.proof.libraries.go.stores import Place, Stores
from tests.proof.libraries.go.tool import Tool
from tests.proof.libraries.go.young import young
from tests.proof.libraries.kcl.dynamodb import DynamoDb
from tests.proof.libraries.kcl.log import Log
from tests.proof.libraries.kcl.stream import ServedStream
from tests.proof.libraries.kcl.verdict import Outcome
from tests.proof.libraries.positions_file import positions_file
from tests.support.case import Case
from tests.support.dialects import dialect_of
from tests.support.judging import asked
from tests.support.servers import Running

AT_ONCE = 16


class Laboratory:
    """One process of the library, one DynamoDB Local, and the servers that it is given."""

    def __init__(self, library: str, servers: Mapping[str, Running]) -> None:
        self._dynamodb = DynamoDb()
        self._stores = Stores(self._dynamodb, servers)
        self._library = Library(library)
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._outcomes: dict[str, Future[Outcome]] = {}
        self.left: dict[str, dict[str, str]] = {}
        """What runs of Telegraf left, see left.py: by id of the situation, then by shard."""

    def begin(self, selected: Iterable[Situation]) -> None:
        """Start working through these in the background."""
        for each in selected:
            self._outcomes[each.id] = self._pool.submit(
                despite_accidents, partial(self.run, each)
            )

    def outcome(self, name: str) -> Outcome:
        """What came of a situation that was begun; what run() raised is raised here."""
        return self._outcomes[name].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._library.close()
        self._dynamodb.close()

    def run(self, situation: Situation, settings: Settings | None = None) -> Outcome:
        """Plant the rows, have the tool do what the situation says, and start the library.

        settings: of Kinesis; `None` for what cases go by.
        """
        case = young(situation.path)
        place = self._stores.plant(situation, _rows(situation, case))
        with (
            ServedStream(case, settings=settings) as stream,
            tempfile.TemporaryDirectory() as folder,
        ):
            tool = Tool(
                Path(folder),
                {**place.surroundings, "AWS_ENDPOINT_URL_KINESIS": stream.address},
            )
            _prepare(tool, situation, case, place)
            began = time.monotonic()
            stream.fake.calls.clear()
            said = _settings(situation, case, place, stream)
            seen = observed(self._library, stream, said, self._stores.asked_again(place))
            if situation.library in TELEGRAF:
                self.left[situation.id] = rows_left(
                    self._dynamodb.client, place.settings["table"], stream.fake, stream.name
                )
        seconds = time.monotonic() - began
        return Outcome(_delivered(seen.log), seen.died, seen.settled, False, seconds, seen.log)


def _rows(situation: Situation, case: Case) -> list[Image]:
    dialect = dialect_of(situation.consumer)
    if situation.state is State.BOOTSTRAPPED:
        return []
    if situation.state is State.ROBBED:
        return dialect.repaired(case, ROBBED[situation.consumer][1])
    return dialect.images(case)


def _prepare(tool: Tool, situation: Situation, case: Case, place: Place) -> None:
    if situation.state in (State.UNREPAIRED, State.ROBBED):
        return
    words = option_words(situation.initial, situation.release, case.stream["created"])
    locator = place.locator + words.removeprefix("?").replace("+", "%2B")
    stream = case.stream["name"]
    if situation.state is State.BOOTSTRAPPED:
        print(tool.fix(locator, stream, "--bootstrap", "--policy", "latest-at-start"))
        return
    if situation.state is State.POSITIONED:
        file = positions_file(tool.folder, case, POSITIONS[situation.consumer][1])
        accept = ("--accept", "skip=all,reread=all,disorder")
        print(tool.fix(locator, stream, "--positions", str(file), *accept))
        return
    fixed = case.expects[situation.place].fixed
    assert fixed is not None
    said = ["--policy", asked(case, fixed.policy).text]
    said += ["--accept", fixed.accept] if fixed.accept else []
    said += ["--probe"] if situation.expect.probe else []
    print(tool.fix(locator, stream, *said))
    if situation.state is State.UNDONE:
        print(tool.undo())


def _settings(
    situation: Situation, case: Case, place: Place, stream: ServedStream
) -> dict[str, str]:
    kind, _, offset = situation.initial.partition(":+")
    at = {"timestamp": str(case.stream["created"] + int(offset))} if offset else {}
    said = {"kinesis": stream.address, "stream": stream.name, "initial": kind}
    return {**place.settings, **said, **at}


def _delivered(log: Log) -> tuple[tuple[str, str], ...]:
    """(shard id, payload) of each record; its partition key is k and the shard's number."""
    records = [event.members for event in log.of("RECORD")]
    return tuple((f"shardId-{int(r['key'][1:]):012d}", r["payload"]) for r in records)
