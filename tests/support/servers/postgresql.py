"""A PostgreSQL of our own."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.servers import (
    PASSWORD,
    USER,
    Running,
    folder_of,
    free_port,
    owner,
    prepared,
    programs_of,
    served,
)


@contextmanager
def postgresql() -> Iterator[Running]:
    """With a database `positions`; it asks for the password."""
    import psycopg

    initdb, server = programs_of("postgres")
    user, port = owner("postgres"), free_port()
    with folder_of(user) as folder:
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        prepared(
            [initdb, "-D", f"{folder}/data", "-U", USER, "-A", "scram-sha-256", "-E", "UTF8",
             "--locale=C", "--no-sync", f"--pwfile={secret}"], user, folder,
        )  # fmt: skip
        def answers() -> bool:
            try:
                with psycopg.connect(
                    dbname="postgres", autocommit=True, host="127.0.0.1", port=port, user=USER,
                    password=PASSWORD,
                ) as connection:  # fmt: skip
                    connection.execute("CREATE DATABASE positions")
            except psycopg.OperationalError:
                return False
            return True

        command = [
            server, "-D", f"{folder}/data", "-p", str(port), "-c", "listen_addresses=127.0.0.1",
            "-c", f"unix_socket_directories={folder}", "-c", "fsync=off",
        ]
        # SIGTERM would wait for connections that a test has left open (its "smart shutdown").
        with served(command, user, folder, answers, ended_by=signal.SIGINT):
            yield Running(port, "positions", folder)
