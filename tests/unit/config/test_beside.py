"""Where relative paths of reshardctl.toml lead."""

from __future__ import annotations

import pytest

from reshardctl.config.nearest import from_folder_of


@pytest.mark.parametrize(("file", "path", "found"), [
    ("reshardctl.toml", "checkpoints/a", "checkpoints/a"),
    ("../reshardctl.toml", "checkpoints/a", "../checkpoints/a"),
    ("../../reshardctl.toml", "journals/", "../../journals/"),
    ("ci/reshardctl.toml", "checkpoints", "ci/checkpoints"),
    ("/etc/reshardctl.toml", "journals", "/etc/journals"),
    ("../reshardctl.toml", "/checkpoints/a", "/checkpoints/a"),
    ("../reshardctl.toml", "s3://bucket/prefix", "s3://bucket/prefix"),
    ("../reshardctl.toml", "hdfs://name/a", "hdfs://name/a"),
    ("../reshardctl.toml", "file:///a", "file:///a"),
    ("../reshardctl.toml", "", ""),
])  # fmt: skip
def test_from_the_folder_of_the_file(file, path, found):
    assert from_folder_of(file, path) == found
