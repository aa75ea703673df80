"""A laboratory for the selected tests of one library, with the servers that they need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.proof.libraries.go.laboratory import Laboratory
from tests.proof.libraries.go.situations import Situation
from tests.support.servers.mariadb import mariadb
from tests.support.servers.postgresql import postgresql
from tests.support.servers.redisserver import redis_server

SERVERS = {"redis": redis_server, "postgres": postgresql, "mysql": mariadb}


def opened(library: str, session: pytest.Session) -> Iterator[Laboratory]:
    """Begins every selected situation at once; each test then looks at the outcome of its own."""
    selected = [each for each in _selected(session) if each.library == library]
    kinds = {each.store for each in selected} & set(SERVERS)
    with ExitStack() as stack:
        servers = {kind: stack.enter_context(SERVERS[kind]()) for kind in sorted(kinds)}
        laboratory = Laboratory(library, servers)
        stack.callback(laboratory.close)
        laboratory.begin(selected)
        yield laboratory


def _selected(session: pytest.Session) -> list[Situation]:
    calls = [getattr(item, "callspec", None) for item in session.items]
    return [call.params["situation"] for call in calls if call and "situation" in call.params]
