"""A MariaDB of our own."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

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
def mariadb() -> Iterator[Running]:
    """With a database `positions`; it asks for the password."""
    import pymysql

    install, server = programs_of("mysql")
    user, port = owner("mysql"), free_port()
    with folder_of(user) as folder:
        data, path = f"--datadir={folder}/data", f"{folder}/socket"
        place = f"--tmpdir={folder}"  # ours, TMPDIR, may be closed to the server's user
        prepared(
            [install, "--no-defaults", data, place, "--auth-root-authentication-method=normal",
             "--skip-test-db", "--skip-name-resolve"], user, folder,
        )  # fmt: skip

        def answers() -> bool:
            line = socket.socket(socket.AF_UNIX)  # ours to close: PyMySQL leaves one that failed
            line.settimeout(30)
            connection = pymysql.connect(user="root", defer_connect=True)
            try:
                line.connect(path)
                connection.connect(line)
            except (OSError, pymysql.err.OperationalError):
                line.close()
                return False
            with connection, connection.cursor() as cursor:
                cursor.execute("CREATE DATABASE positions")
                cursor.execute(f"CREATE USER {USER}@'127.0.0.1' IDENTIFIED BY %s", [PASSWORD])
                cursor.execute(f"GRANT ALL ON positions.* TO {USER}@'127.0.0.1'")
            return True

        command = [
            server, "--no-defaults", data, place, f"--port={port}", "--bind-address=127.0.0.1",
            f"--socket={path}", f"--pid-file={folder}/pid", "--skip-name-resolve",
            "--innodb-flush-log-at-trx-commit=0",
        ]
        with served(command, user, folder, answers), _settings_of_tls_once():
            yield Running(port, "positions", folder)


@contextmanager
def _settings_of_tls_once() -> Iterator[None]:
    """PyMySQL reads the machine's certificates for each connection, and then asks for none: that
    takes longer than most tests."""
    from pymysql.connections import Connection

    make = Connection._create_ssl_ctx
    kept: list[ssl.SSLContext] = []

    def made(connection: Connection, asked: Any) -> ssl.SSLContext:
        if asked:
            return make(connection, asked)
        if not kept:
            kept.append(make(connection, {}))
        return kept[0]

    with patch.object(Connection, "_create_ssl_ctx", made):
        yield
