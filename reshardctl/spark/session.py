"""Makes a Spark session for a command: the existing one, a server's, a cluster's or a local one."""

from __future__ import annotations

import atexit
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from reshardctl.errors import CannotTell, UsageError
from reshardctl.spark.error_text import full_message, line
from reshardctl.spark.gateway import EXTRA
from reshardctl.spark.jvm import quiet, start
from reshardctl.spark.remote import reach, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
NAME = "reshardctl audit"
OURS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}
"""For a local session, which must not be reachable from elsewhere."""
JAVA = "java -version   (Spark 3 wants Java 8, 11 or 17, Spark 4 wants 17 or 21)"


def session(*, master: str | None = None, remote: str | None = None) -> SparkSession:
    """Returns a session.

    master: Spark's; by default that of spark-submit or SPARK_REMOTE, else all local cores. remote:
    of a Spark Connect server, `sc://HOST`. Raises UsageError without PySpark 3.5 or later,
    CannotTell where no session can be made.
    """
    builder: Any = _builder()
    settings = {}
    if remote is not None:
        builder = builder.remote(remote)
    elif master is not None or not _given():
        builder = builder.master(master or LOCAL)
    if remote is None and "SPARK_REMOTE" not in os.environ:
        settings = _configuration(master)
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
    return made


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


def _configuration(master: str | None) -> dict[str, str]:
    """Few settings: those of spark-defaults.conf and spark-submit are kept."""
    settings = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    if _given():
        return settings
    settings |= quiet()
    if not (master or LOCAL).startswith("local"):
        return settings
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return {**OURS, **settings}
