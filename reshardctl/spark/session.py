"""Makes a Spark session for a command: the existing one, a server's, a cluster's or a local one.

A warning of every start of PySpark's JVM is filtered from its stderr. Each start of Spark 4.3 uses
an incubating module of Java, and Java warns of it on stderr before anything of Spark's could be
configured. The JVM has the Hadoop configuration with which Spark itself would start.

A Spark Connect server is asked whether it answers: without this check, PySpark's client retries a
dead address for more than ten minutes.
"""

from __future__ import annotations

import atexit
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reshardctl.errors import CannotTell, UsageError, install
from reshardctl.model.files import on_this_machine
from reshardctl.spark.functions import full_message, line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_QUIET = Path(__file__).with_name("quiet.properties")
_EVERY_START = re.compile(rb"WARNING: Using incubator modules: [\w., ]+\r?\n?")
_CHUNK = 1 << 16
JAVA_OPTIONS = "spark.driver.extraJavaOptions"


def start(settings: Mapping[str, str]) -> None:
    """Start the JVM of Spark's sessions, unless this process has one.

    settings: Spark's. Raises what PySpark raises.
    """
    from pyspark import SparkContext

    if SparkContext._gateway is None:
        gateway, conf = launched(settings)
        SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def launched(settings: Mapping[str, str]) -> tuple[Any, Any]:
    """A new JVM's gateway, and the SparkConf of these settings that it was started with.

    What it writes to stderr goes through `pass_on` to ours, for as long as it runs. Raises what
    PySpark raises, and KeyboardInterrupt after a signal.
    """
    from pyspark import SparkConf
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf()
    for name, value in settings.items():
        conf.set(name, value)
    reading, writing = os.pipe()
    Thread(target=pass_on, args=(reading, 2), daemon=True).start()
    try:
        with _until_it_runs():
            return launch_gateway(conf, {"stderr": writing}), conf
    finally:
        os.close(writing)


@contextmanager
def _until_it_runs() -> Iterator[None]:
    """Keeps the first signal that would interrupt the block until its end.

    A JVM ends with the process that started it, but not if PySpark is interrupted before the JVM
    has told its port: then it would stay for ever (pyspark/java_gateway.py deletes the folder for
    the port, and PythonGatewayServer fails before it waits for the end of its input).
    """
    met: list[int] = []

    def keep(number: int, frame: FrameType | None) -> None:
        if met:
            signal.default_int_handler(number, frame)
        met.append(number)

    interrupting: list[int] = []
    if current_thread() is main_thread():  # no other thread can set a handler
        interrupting = [
            number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            if signal.getsignal(number) is signal.default_int_handler
        ]  # fmt: skip
    for number in interrupting:
        signal.signal(number, keep)
    try:
        yield
    finally:
        for number in interrupting:
            signal.signal(number, signal.default_int_handler)
    if met:
        raise KeyboardInterrupt


def quiet() -> dict[str, str]:
    """Settings with which the JVM says errors only; none where the operator has their own."""
    if {"SPARK_HOME", "SPARK_CONF_DIR"} & os.environ.keys():
        return {}
    return {JAVA_OPTIONS: f"-Dlog4j2.configurationFile={_QUIET.as_uri()}"}


def pass_on(reading: int, to: int) -> None:
    """Copy everything at once until the writers have closed the pipe."""
    try:
        while chunk := os.read(reading, _CHUNK):
            left = memoryview(_EVERY_START.sub(b"", chunk))
            while left:
                left = left[os.write(to, left) :]
    except OSError:
        pass
    finally:
        os.close(reading)


EXTRA = install("spark")


def gateway() -> Any:
    """The py4j gateway of the process's Spark, else one of its own.

    PySpark has one JVM for a process, and asks it about the errors of every other one
    (pyspark.errors.exceptions.captured), which fails: whoever needs both starts Spark first.

    Raises:
        UsageError: PySpark is not installed.
        CannotTell: Java does not start.
    """
    try:
        from pyspark import SparkContext
    except ImportError:
        raise UsageError("paths of Hadoop file systems need PySpark", EXTRA) from None
    return SparkContext._gateway or _launched()


@cache
def _launched() -> Any:

    try:
        gateway, _ = launched(quiet())
    except Exception as error:  # PySparkRuntimeError is newer than some releases that work
        message = str(error).partition("\n")[0] or type(error).__name__
        raise CannotTell(
            f"PySpark's JVM does not start: {message}",
            "java -version   (Spark 3 wants Java 8, 11 or 17, Spark 4 wants 17 or 21)",
        ) from None
    return gateway


def configuration(java: Any) -> Any:
    """The configuration of core-site.xml etc. and of `spark.hadoop.*` in spark-defaults.conf."""
    conf = java.org.apache.spark.SparkConf()
    return java.org.apache.spark.deploy.SparkHadoopUtil.get().newConfiguration(conf)


PORT = 15002
"""The default port (Spark Connect's connection string)."""
PATIENCE = 10.0
"""Seconds to wait for a connection."""
_TOKEN = re.compile(r"(?i)(;\s*token=)[^;]*")
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")


def shown(remote: str) -> str:
    """The address without its token."""
    return _TOKEN.sub(r"\1***", remote)


def check(remote: str) -> tuple[str, int]:
    """Host and port; raises UsageError for an invalid address."""
    refused = UsageError(f"--remote {shown(remote)} is no address", "write it as sc://HOST:PORT")
    try:
        parts = urlsplit(remote)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        raise refused from None
    if host is None or parts.scheme != "sc":
        raise refused
    return host, port


def reach(remote: str) -> None:
    """Raises CannotTell if nothing answers; past a proxy only the client can find out."""
    address = check(remote)
    if any(name in os.environ or name.upper() in os.environ for name in _PROXIES):
        return
    try:
        socket.create_connection(address, PATIENCE).close()
    except OSError as error:
        raise CannotTell(
            f"nothing answers at {shown(remote)}: {error.strerror or error}",
            f"is the Spark Connect server up? Its usual port is {PORT}",
        ) from None


LOCAL = "local[*]"
NAME = "reshardctl audit"
OURS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}
"""For a local session, which must not be reachable from elsewhere."""
_SHUFFLED = "spark.sql.shuffle.partitions"
A_CORE, MOST = 4, 200
"""Partitions of a shuffle: for each core, and in all."""
JAVA = "java -version   (Spark 3 wants Java 8, 11 or 17, Spark 4 wants 17 or 21)"


def session(
    *, master: str | None = None, remote: str | None = None, small: bool = False
) -> SparkSession:
    """Returns a session.

    master: Spark's; by default that of spark-submit or SPARK_REMOTE, else all local cores. remote:
    of a Spark Connect server, `sc://HOST`. small: whether it is for few rows (`is_small`). Raises
    UsageError without PySpark 3.5 or later, CannotTell where no session can be made.
    """
    builder: Any = _builder()
    settings = {}
    local = remote is None and _makes_one() and (master or LOCAL).startswith("local")
    if remote is not None:
        builder = builder.remote(remote)
    elif master is not None or not _given():
        builder = builder.master(master or LOCAL)
    if remote is None and "SPARK_REMOTE" not in os.environ:
        settings = _configuration(master, small=small)
        for name, value in settings.items():
            builder = builder.config(name, value)
    if remote is not None:
        reach(remote)
    try:
        if remote is None and not _given():
            start({"spark.app.name": NAME, "spark.master": master or LOCAL, **settings})
        made: SparkSession = builder.getOrCreate()
    except KeyboardInterrupt:
        raise
    except Exception as error:
        where = f"at {shown(remote) if remote else master}" if remote or master else "here"
        raise CannotTell(
            f"no Spark session {where}: {line(full_message(error)) or type(error).__name__}",
            _help(error, master, remote),
        ) from None
    if remote is not None:
        _leave_at_once(made)
    if local:
        fit(made, small=small)
    return made


def _makes_one() -> bool:
    """Whether this process makes the session, and spark-submit or somebody before us does not."""
    if _given():
        return False
    from pyspark import SparkContext  # a client of Spark Connect alone has none

    return SparkContext._active_spark_context is None


def _leave_at_once(session: Any) -> None:
    """Removes PySpark 4.3's exit handler, which lets the server clear what an audit never makes.

    If the server is gone, the handler tries for minutes, after Ctrl-C as well.
    """
    if clearing := getattr(getattr(session, "client", None), "_on_exit", None):
        atexit.unregister(clearing)


def _help(error: Exception, master: str | None, remote: str | None) -> str:
    """Advice for the options used; a missing JVM means Java, whatever the master."""
    if remote is not None:
        return "is the server up, and does this PySpark go with it?"
    if master is None or "JAVA_GATEWAY" in str(error):
        return JAVA
    return "is the master up, and of this release? --master 'local[*]' is this machine"


def check_release() -> None:
    """Raises UsageError without PySpark 3.5 or later."""
    try:
        import pyspark
    except ImportError as error:
        raise UsageError(f"an audit needs PySpark 3.5 or later ({error})", EXTRA) from None
    if tuple(int(part) for part in pyspark.__version__.split(".")[:2]) < (3, 5):
        raise UsageError(f"an audit needs PySpark 3.5 or later, not {pyspark.__version__}", EXTRA)


def check_arrow() -> None:
    """Raises UsageError without pandas and PyArrow, which Python functions on rows need."""
    missing = [name for name in ("pandas", "pyarrow") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"reading a stream with Spark needs {' and '.join(missing)}, which PySpark alone does "
            "not install",
            EXTRA,
        )


def _builder() -> Any:
    check_release()
    from pyspark.sql import SparkSession

    return SparkSession.builder.appName(NAME)


def _given() -> bool:
    """Whether spark-submit or the environment names a Spark."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ


def _configuration(master: str | None, *, small: bool) -> dict[str, str]:
    """Few settings: those of spark-defaults.conf and spark-submit are kept."""
    settings = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    if _given():
        return settings
    # PySpark 4 asks the JVM three times at each call of a function for where it was called.
    settings |= {**quiet(), "spark.python.sql.dataFrameDebugging.enabled": "false"}
    if not (master or LOCAL).startswith("local"):
        return settings
    if small and JAVA_OPTIONS in settings:
        settings[JAVA_OPTIONS] += " -XX:TieredStopAtLevel=1"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return {**OURS, **settings}


SMALL = 16 << 20
"""Bytes of a small sink."""


def is_small(sink: str) -> bool:
    """Whether a path has files of this machine, and their sizes add up to at most `SMALL`.

    Java then compiles once what it would otherwise compile a second time, better, while it runs:
    that took half of the processor time of an audit of 10,000 rows.
    """
    path = on_this_machine(sink)
    if path is None:
        return False
    left = SMALL
    try:
        for file in (Path(path),) if Path(path).is_file() else _files(path):
            left -= file.lstat().st_size
            if left < 0:
                return False
    except OSError:
        return False
    return left < SMALL


def _files(folder: str) -> Iterator[Path]:
    for within, _, names in os.walk(folder):
        yield from (Path(within, name) for name in names)


def fit(made: Any, *, small: bool = False) -> None:
    """Gives a local session few partitions for each shuffle, unless the operator has set them.

    Spark's own 200 are for a cluster: each is a task, and an audit has dozens of shuffles. Of few
    rows (`small`) each core gets one.
    """
    context = made.sparkContext
    if not context.getConf().contains(_SHUFFLED):
        each = 1 if small else A_CORE
        made.conf.set(_SHUFFLED, str(min(MOST, each * context.defaultParallelism)))


def tasks(session: Any) -> tuple[int, int] | None:
    """Finished tasks of the active stages, and all of them.

    `None` if this process has no driver, as with a Connect server, and between stages.
    """
    if "connect" in type(session).__module__:
        return None
    tracker = session.sparkContext.statusTracker()
    done = total = 0
    for stage in tracker.getActiveStageIds():
        if (stage_info := tracker.getStageInfo(stage)) is not None:
            done, total = done + stage_info.numCompletedTasks, total + stage_info.numTasks
    return (done, total) if total else None
