"""Which paths are of this machine; spellings as org.apache.hadoop.fs.Path takes and prints them."""

from __future__ import annotations

import pytest

from reshardctl.model.files import on_this_machine


@pytest.mark.parametrize(("path", "found"), [
    ("/a/b", "/a/b"), ("a/b", "a/b"), ("", ""), ("a:b/c", "a:b/c"), ("12:/x", "12:/x"),
    ("file:/a", "/a"), ("file:///a", "/a"), ("file:a", "a"),
    ("hdfs://node:8020/a", None), ("hdfs:///a", None), ("hdfs:/a", None),
    ("abfss://a@b.dfs.core.windows.net/x", None), ("s3a://bucket", None),
])  # fmt: skip
def test_on_this_machine(path, found):
    assert on_this_machine(path) == found
