"""The real Go libraries as judges: one process, many applications at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from reshardctl.model import Image
from tests.proof.drawn.states import State
from tests.proof.drawn.trial import Judge, Seen
from tests.proof.libraries.go import built
from tests.proof.libraries.go.library import Library, despite_accidents, observed
from tests.proof.libraries.go.stores import Place, Stores
from tests.proof.libraries.kcl.dynamodb import DynamoDb
from tests.proof.libraries.kcl.stream import ServedStream
from tests.support.case_stream import shard_name
from tests.support.servers.mariadb import mariadb
from tests.support.servers.postgresql import postgresql
from tests.support.servers.redisserver import redis_server

SERVERS = {"redis": redis_server, "postgres": postgresql, "mysql": mariadb}


@dataclass(frozen=True)
class _Store:
    """What `Stores.plant` asks of a situation."""

    consumer: str
    store: str


def judging(name: str, store: str) -> Callable[[int], AbstractContextManager[Judge]]:
    """Opens DynamoDB Local, the store's server and the library; RuntimeError where one is missing.
    """

    @contextmanager
    def opened(_jobs: int) -> Iterator[Judge]:
        if reason := built.missing(name):
            raise RuntimeError(reason)
        with ExitStack() as stack:
            dynamodb = DynamoDb()
            stack.callback(dynamodb.close)
            servers = {
                kind: stack.enter_context(server())
                for kind, server in SERVERS.items() if kind == store
            }
            library = Library(name)
            stack.callback(library.close)
            stores = Stores(dynamodb, servers)

            def judge(state: State, images: list[Image]) -> Seen:
                def attempt() -> Seen:
                    place = stores.plant(_Store(state.consumer, store), images)  # type: ignore[arg-type]
                    return _start(state, place, library, stores.asked_again(place))

                return despite_accidents(attempt)

            yield judge

    return opened


def _start(state: State, place: Place, library: Library, again: Collection[str]) -> Seen:
    with ServedStream(state.case) as stream:
        said = {"kinesis": stream.address, "stream": stream.name, "initial": state.initial}
        seen = observed(library, stream, {**place.settings, **said}, again)
    delivered: dict[str, tuple[str, ...]] = {}
    for event in seen.log.of("RECORD"):
        shard = shard_name(int(event.members["key"][1:]))  # its partition key is k and that
        delivered[shard] = (*delivered.get(shard, ()), event.members["payload"])
    return Seen(delivered, seen.died, "" if seen.settled else "it still moved when its time was up")
