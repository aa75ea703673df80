"""Real servers for tests: started on loopback, in a folder of their own, stopped at the end.

Tests are skipped without them, but for CI: `tests/support/needs.py`.
"""

from __future__ import annotations

import atexit
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 180.0
"""Seconds for a server to answer."""
USER, PASSWORD = "tester", "s3cret-of-the-tests"


@dataclass(frozen=True)
class Running:
    """A server that answers. url: HOST:PORT/DATABASE, as a locator has it."""

    port: int
    database: str
    folder: Path

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}/{self.database}"


PROGRAMS = {
    "redis": ("redis-server",), "postgres": ("initdb", "postgres"),
    "mysql": ("mariadb-install-db", "mariadbd"),
}  # fmt: skip
_PACKAGES = {"redis": "redis-server", "postgres": "postgresql", "mysql": "mariadb-server"}


def missing(server: str) -> str | None:
    """What keeps a server of `PROGRAMS` from running here; `None` when nothing does."""
    for name in PROGRAMS[server]:
        if _path_of(name) is None:
            return f"{name} is not installed (Debian: apt-get install {_PACKAGES[server]})"
    return None


def programs_of(server: str) -> list[str]:
    """Paths of a server's programs.

    Raises:
        RuntimeError: One of them is not installed.
    """
    if reason := missing(server):
        raise RuntimeError(reason)
    return [path for name in PROGRAMS[server] if (path := _path_of(name))]


def _path_of(name: str) -> str | None:
    versions = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")))
    places = [*os.get_exec_path(), "/usr/sbin", *versions]
    return shutil.which(name, path=os.pathsep.join(places))


_ports = itertools.count(os.getpid() * 101)
"""Each worker begins elsewhere, and takes none twice."""


def free_port(second: int = 0) -> int:
    """One that nobody listens at. Not of those that the system gives to connections (from 32768
    on Linux): one of the many of other tests could have it before the server does.

    second: how far above it the server listens at another one.
    """
    for number in itertools.islice(_ports, 1000):
        port = 10_240 + number % (20_000 - second)
        with socket.socket() as one, socket.socket() as other, suppress(OSError):
            one.bind(("127.0.0.1", port))
            if second:
                other.bind(("127.0.0.1", port + second))
            return port
    raise AssertionError("no port is free")


def owner(name: str) -> str | None:
    """Whom to run it as: servers refuse root. `None` for whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(name)
    except KeyError:
        return "nobody"
    return name


@contextmanager
def folder_of(user: str | None) -> Iterator[Path]:
    """A folder that is theirs alone."""
    folder = Path(tempfile.mkdtemp(prefix="reshardctl-server-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def once(command: Sequence[str], user: str | None, folder: Path) -> None:
    """A program that prepares something."""
    done = subprocess.run(
        command, user=user, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=2 * PATIENCE, check=False,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


_prepared: dict[str, Path] = {}
"""Folders of data as programs prepared them, by the program."""


def prepared(command: Sequence[str], user: str | None, folder: Path) -> None:
    """`data` in this folder as a program prepares it in the first such folder of this process.

    The others get a copy: to prepare it takes longer than most files of tests.
    """
    if (program := command[0]) not in _prepared:
        once(command, user, folder)
        kept = Path(tempfile.mkdtemp(prefix="reshardctl-server-"))
        atexit.register(shutil.rmtree, kept, ignore_errors=True)
        if user is not None:
            shutil.chown(kept, user)
        once(["cp", "-a", f"{folder}/data", str(kept)], user, folder)
        _prepared[program] = kept
    else:
        once(["cp", "-a", f"{_prepared[program]}/data", str(folder)], user, folder)


@contextmanager
def served(
    command: Sequence[str], user: str | None, folder: Path, answers: Callable[[], bool],
    ended_by: signal.Signals = signal.SIGTERM,
) -> Iterator[None]:
    """A server from its first answer on."""
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, user=user, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + PATIENCE
        while not answers():
            if process.poll() is not None or time.monotonic() > end:
                raise AssertionError(log.read_text(errors="replace")[-2000:])
            time.sleep(0.1)
        yield
    finally:
        process.send_signal(ended_by)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
