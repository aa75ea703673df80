"""`python -m tests.whole.extras EXTRA PYTHON`: the job of an extra, done by another environment."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.whole.extras.jobs import JOBS
from tests.whole.extras.scene import installed

if __name__ == "__main__":
    extra, python = sys.argv[1:]
    with (
        tempfile.TemporaryDirectory(prefix="reshardctl-extra-") as folder,
        installed(Path(python), Path(folder)) as tool,
    ):
        JOBS[extra](tool)
    print(f"reshardctl[{extra}] did its job")
