"""The scripts of deploy/action.yml, run as GitHub's runner runs them, with real packages.

The environment is new: what the step has installed is on the path of the next one; nothing of this
checkout's is. Needs a package index.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.whole.deploy.test_recipes import ACTION, ROOT, SNAPSHOT, checkout, step

pytestmark = pytest.mark.long

LIMIT = 900


def run(name: str, folder: Path, **given: str | Path) -> subprocess.CompletedProcess[str]:
    """A step's script with these variables; the runner's own files and folders lie in `folder`."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("AWS_", "PYTHON", "VIRTUAL"))}
    added = folder / "path"
    ahead = added.read_text().split("\n")[::-1] if added.exists() else []
    python = folder / "python"
    if not python.exists():
        python.mkdir()
        (python / "python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    ours = str(Path(sys.executable).parent)
    others = [part for part in kept["PATH"].split(os.pathsep) if part != ours]
    path = os.pathsep.join([*filter(None, ahead), str(python), *others])
    (folder / "work").mkdir(exist_ok=True)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]],
        env=kept | {"PATH": path, "GITHUB_PATH": str(added), "GITHUB_OUTPUT": str(folder / "out")}
        | {n: str(v) for n, v in given.items()},
        cwd=folder / "work", capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip


def install(folder: Path, package: str | Path = "", requirements: str | Path = "") -> None:
    done = run("Install reshardctl", folder, PACKAGE=package, CHECKOUT=checkout(),
               REQUIREMENTS=requirements, VENV=folder / "runner's temp" / "reshardctl")  # fmt: skip
    assert done.returncode == 0, done.stderr


def inspect(folder: Path) -> str:
    """The standard output of the step that inspects."""
    inputs = {name: each["default"] for name, each in ACTION["inputs"].items()}
    done = run("Inspect", folder, CONSUMERS=f"snapshot:{SNAPSHOT}\n", STREAM="", CONFIG="",
               FAIL_ON=inputs["fail-on"], SARIF=inputs["sarif"])  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert (folder / "out").read_text().splitlines()[-2:] == [
        "exit-code=1", "sarif=reshardctl.sarif",
    ]  # fmt: skip
    assert (folder / "work" / "reshardctl.sarif").exists()
    return done.stdout


def another(folder: Path) -> Path:
    """A wheel of the same version with one more word in it."""
    source = folder / "source"
    shutil.copytree(ROOT / "reshardctl", source / "reshardctl",
                    ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source)
    module = source / "reshardctl" / "exit.py"
    module.write_text(module.read_text() + "\nANOTHER = True\n")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
                   cwd=source, check=True, capture_output=True, timeout=LIMIT)  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_it_installs_and_inspects(tmp_path):
    """Twice in one job: with the action's own checkout, then with a wheel of the same version."""
    install(tmp_path)
    assert "::error title=RSH203" in inspect(tmp_path)
    binary = tmp_path / "runner's temp" / "reshardctl" / "bin"
    assert (tmp_path / "path").read_text() == f"{binary}\n"
    ask = "import reshardctl.exit as it; print(hasattr(it, 'ANOTHER'))"
    asked = [binary / "python", "-I", "-c", ask]
    assert subprocess.check_output(asked, text=True) == "False\n"
    install(tmp_path, another(tmp_path))
    assert subprocess.check_output(asked, text=True) == "True\n"
    assert "::error title=RSH203" in inspect(tmp_path)


def test_a_package_with_another_hash_is_not_installed(tmp_path):
    lock = (ROOT / "scripts" / "requirements" / "run.lock").read_text()
    changed = tmp_path / "changed.lock"
    changed.write_text(re.sub(r"(?m)(sha256:)\w{64}", rf"\g<1>{'0' * 64}", lock))
    done = run("Install reshardctl", tmp_path, PACKAGE="", CHECKOUT=checkout(),
               REQUIREMENTS=changed, VENV=tmp_path / "venv")  # fmt: skip
    assert done.returncode != 0 and "HASH" in done.stderr.upper()
    assert not (tmp_path / "path").exists()
    assert not (tmp_path / "venv" / "bin" / "reshardctl").exists()
