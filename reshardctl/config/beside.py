"""Relative paths in reshardctl.toml start at the folder of the file."""

from __future__ import annotations

from pathlib import Path

from reshardctl.model.files import on_this_machine


def from_folder_of(file: str, path: str) -> str:
    """A path of the file, as it is reached from the current directory.

    file: the configuration, as it is reached from there. What is absolute, empty or has a scheme
    (`s3://…`, `hdfs:/…`) stays as it is. A slash at the end, which makes a directory, is kept.
    """
    folder = Path(file).parent
    if not path or path.startswith(("/", "~")) or on_this_machine(path) != path or folder == Path():
        return path
    return str(folder / path) + ("/" if path.endswith("/") else "")
