"""Spark's failures in a line. The texts are PySpark 4.3.0's own, seen in November 2026."""

from __future__ import annotations

import pytest

from reshardctl.errors import CannotTell, UsageError
from reshardctl.spark.audit import tables
from reshardctl.spark.audit.tables import unread
from reshardctl.spark.functions import line, line_and_cause

NO_S3A = """An error occurred while calling o40.load.
: java.lang.RuntimeException: java.lang.ClassNotFoundException: Class \
org.apache.hadoop.fs.s3a.S3AFileSystem not found
\tat org.apache.hadoop.conf.Configuration.getClass(Configuration.java:2737)
"""
NO_S3 = """An error occurred while calling o40.load.
: org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "s3"
\tat org.apache.hadoop.fs.FileSystem.getFileSystemClass(FileSystem.java:3585)
"""
NO_MASTER = """An error occurred while calling None.org.apache.spark.sql.classic.SparkSession.
: java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.
This stopped SparkContext was created at:
"""


@pytest.mark.parametrize(("text", "said"), [
    (NO_S3A, "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found"),
    (NO_S3, 'No FileSystem for scheme "s3"'),
    (NO_MASTER, "Cannot call methods on a stopped SparkContext."),
    ("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.",
     "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."),
    (": java.io.EOFException\n\tat x", "java.io.EOFException"),
    ("", ""),
])
def test_the_line_that_says_something(text: str, said: str) -> None:
    assert line(text) == said


FULL = """An error occurred while calling o46.parquet.
: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to \
file:/tmp/tiny/x. SQLSTATE: 58030
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailedWhileWritingRowsError(\
QueryExecutionErrors.scala:823)
Caused by: org.apache.parquet.util.AutoCloseables$ParquetCloseResourceException: Unable to close \
resource
\tat org.apache.parquet.util.AutoCloseables.uncheckedClose(AutoCloseables.java:73)
\t... 11 more
Caused by: org.apache.hadoop.fs.FSError: java.io.IOException: No space left on device
\tat org.apache.hadoop.fs.RawLocalFileSystem$LocalFSFileOutputStream.write(\
RawLocalFileSystem.java:433)
\t\tCaused by: java.io.IOException: No space left on device
"""


@pytest.mark.parametrize(("text", "said"), [
    (FULL, "[TASK_WRITE_FAILED] Task failed while writing rows to file:/tmp/tiny/x. "
     "SQLSTATE: 58030: No space left on device"),
    (NO_S3, 'No FileSystem for scheme "s3"'),
    ("x\nCaused by: java.io.IOException: x", "x"),
    ("", ""),
])
def test_the_cause_below_it(text: str, said: str) -> None:
    assert line_and_cause(text) == said


def test_s3a_without_its_connector_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "hadoop", lambda: "3.5.0")
    found = unread("s3a://lake/orders", RuntimeError(NO_S3A))
    assert isinstance(found, UsageError)
    assert "no connector for s3a://lake/orders: no org.apache.hadoop.fs.s3a" in found.what
    assert "--packages org.apache.hadoop:hadoop-aws:3.5.0 pyspark-shell" in (found.next or "")


def test_s3_is_spelled_s3a() -> None:
    found = unread("s3://lake/orders", RuntimeError(NO_S3))
    assert isinstance(found, UsageError) and "s3a://lake/orders" in (found.next or "")


def test_what_is_broken_names_its_file() -> None:
    said = "[FAILED_READ_FILE] Error while reading file file:///lake/part-1.parquet."
    found = unread("/lake", RuntimeError(said))
    assert isinstance(found, CannotTell) and "part-1.parquet" in found.what


@pytest.mark.parametrize(("said", "step"), [
    ('org.apache.hadoop.security.AccessControlException: Permission denied: user=mallory, '
     'access=EXECUTE, inode="/lake":spark:supergroup:drwxr-x---', "run this as user spark"),
    ("org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.ipc.StandbyException): Operation "
     "category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error",
     "name the nameservice"),
    ("java.io.IOException: Incomplete HDFS URI, no host: hdfs:///lake/_delta_log",
     "export HADOOP_CONF_DIR="),
])  # fmt: skip
def test_what_hdfs_refuses_names_the_next_step(said: str, step: str) -> None:
    """As a NameNode of Hadoop 3.5 said it to PySpark 4.3."""
    found = unread("hdfs:///lake", RuntimeError(said))
    assert isinstance(found, CannotTell) and found.next.startswith(step)


@pytest.mark.parametrize(("said", "what"), [
    # PySpark 4.3.0 with Iceberg 1.11.0 for Spark 4.1.
    ("An error occurred while calling o52.sql.\n: java.lang.IncompatibleClassChangeError: class "
     "org.apache.iceberg.spark.source.SparkView can not implement "
     "org.apache.spark.sql.connector.catalog.View, because it is not an interface",
     "a package that this Spark was given is made for another release: class org.apache.iceberg"),
    # Both releases, without the package; and without spark.sql.catalog.glue.
    ("Cannot find catalog plugin class for catalog 'glue': org.apache.iceberg.spark.SparkCatalog.",
     "this Spark has no catalog glue"),
    ("[REQUIRES_SINGLE_PART_NAMESPACE] spark_catalog requires a single-part namespace, but got "
     "identifier `glue`.`lake`.`orders`. SQLSTATE: 42K05", "this Spark has no catalog glue"),
])  # fmt: skip
def test_a_catalog_that_spark_cannot_open(said: str, what: str) -> None:
    found = unread("glue.lake.orders", RuntimeError(said))
    assert isinstance(found, UsageError) and found.what.startswith(what)
