"""What goes out of the door: wheel, sdist, locks, and a tree that names no place of its making."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import reshardctl

ROOT = Path(__file__).resolve().parents[2]
LOCKED = ROOT / "scripts" / "requirements"
LOCKS = sorted(LOCKED.glob("*.lock"))
APART = {
    "aws-cli.lock", "docs.lock", "mutants.lock", "oldest-demo.lock", "oldest.lock", "release.lock",
    "spark-3.5.lock", "spark-4.0.lock", "spark-4.lock",
}  # fmt: skip
"""Environments of their own: releases of one library, and tools that no test needs."""
VERSION = reshardctl.__version__

# A requirement of a hash-checked file: `name==version [; marker]` and then only `--hash` lines
# (pip documentation, "Secure installs").
PINNED = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z0-9,_-]+\])?==[^\s;]+( ; [^\\]+)?$")
HASH = re.compile(r"^--hash=sha256:[0-9a-f]{64}$")

# What no tracked file may hold, as patterns that do not match themselves.
FORBIDDEN = {
    "a folder outside of the project": re.compile(r"(?<![\w/])share[d]/|\.\./share[d]\b"),
    "a path of somebody's machine": re.compile(r"/(?:work|root|opt/wheels)/"),
    "the address of a package index": re.compile(r"\bpypi\.org|pythonhosted\.org|maven\.org"),
    "the setting of a package index": re.compile(r"--(?:trusted-hos[t]|find-link[s]|index-ur[l])"),
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)(?!IOSFODNN7EXAMPLE)[A-Z0-9]{16}\b"),
}
# A reader may be sent to the package's page; a script may not be sent to an index.
LINKS_ALLOWED: dict[str, tuple[str, ...]] = {"the address of a package index": (".md",)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel of this tree."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    """The one wheel, pure Python for every platform."""
    return zipfile.ZipFile(built / f"reshardctl-{VERSION}-py3-none-any.whl")


def package_files() -> set[str]:
    """Every file of the package in this tree, as the wheel should name it."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "reshardctl").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    outside = {name for name in names if not name.startswith(f"reshardctl-{VERSION}.dist-info/")}
    man_page = f"reshardctl-{VERSION}.data/data/share/man/man1/reshardctl.1"
    assert outside == {*package_files(), man_page}
    assert "reshardctl/py.typed" in names
    assert wheel.read(man_page) == (ROOT / "docs" / "reshardctl.1").read_bytes()


def test_wheel_carries_the_whole_licence(wheel: zipfile.ZipFile) -> None:
    inside = wheel.read(f"reshardctl-{VERSION}.dist-info/licenses/LICENSE")
    assert inside == (ROOT / "LICENSE").read_bytes()
    assert b"Version 2.0, January 2004" in inside
    assert b"APPENDIX: How to apply the Apache License" in inside


def test_wheel_metadata(wheel: zipfile.ZipFile) -> None:
    metadata = Parser().parsestr(wheel.read(f"reshardctl-{VERSION}.dist-info/METADATA").decode())
    assert metadata["Name"] == "reshardctl"
    assert metadata["Version"] == VERSION
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    extras = {"demo", "mysql", "postgres", "redis", "spark", "test"}
    assert set(metadata.get_all("Provides-Extra", [])) == extras
    required = metadata.get_all("Requires-Dist", [])
    plain = {re.split(r"[^a-z0-9]", line)[0] for line in required if "extra ==" not in line}
    assert plain == {"boto3", "msgspec", "networkx", "rich", "typer"}


def test_wheel_installs_the_command(wheel: zipfile.ZipFile) -> None:
    entry_points = wheel.read(f"reshardctl-{VERSION}.dist-info/entry_points.txt").decode()
    assert "reshardctl = reshardctl.cli:main" in entry_points.splitlines()


def test_sdist_can_run_its_own_tests(built: Path) -> None:
    top = f"reshardctl-{VERSION}"
    with tarfile.open(built / f"{top}.tar.gz") as archive:
        names = set(archive.getnames())
    for needed in ("LICENSE", "README.md", "pyproject.toml", "scripts/test", "scripts/env.sh",
                   "scripts/requirements/dev.lock", "tests/conftest.py", "tests/golden/README.md"):
        assert f"{top}/{needed}" in names
    assert not {name for name in names if "/.venv/" in name or "__pycache__" in name}


def test_version_is_a_plain_release() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


def locked(path: Path) -> dict[str, list[str]]:
    """The requirement lines of a lock and what follows each of them."""
    text = path.read_text().replace("\\\n", "\n")
    lines = [line.strip() for line in text.splitlines()]
    found: dict[str, list[str]] = {}
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if line.startswith("--"):
            assert found, f"{path.name} begins with the option {line}"
            found[next(reversed(found))].append(line)
        else:
            found[line] = []
    return found


def test_the_locks_are_there() -> None:
    names = [path.name for path in LOCKS]
    assert set(names) == {"build.lock", "demo.lock", "dev.lock", "run.lock"} | APART


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_locked_requirement_is_pinned_with_hashes_and_without_an_address(path: Path) -> None:
    assert not re.search(r"://|(?:\d+\.){3}\d+[:/]|@", path.read_text()), "an address"
    requirements = locked(path)
    assert requirements
    assert path.name in APART or set(requirements) <= set(locked(LOCKED / "dev.lock"))
    for requirement, options in requirements.items():
        assert PINNED.match(requirement), requirement
        assert options, f"{requirement} has no hash"
        assert all(HASH.match(option) for option in options), requirement


def test_locks_cover_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = {
        "run.lock": project["dependencies"],
        "demo.lock": project["dependencies"] + extras["demo"],
        "dev.lock": project["dependencies"] + extras["demo"] + extras["test"],
        "build.lock": ["hatchling"],
    }
    for name, asked in wanted.items():
        have = {line.split("==")[0].split("[")[0] for line in locked(LOCKED / name)}
        assert {re.split(r"[^a-z0-9-]", line)[0] for line in asked} <= have, name


def test_the_oldest_dependencies_that_are_allowed_are_those_that_are_tried() -> None:
    """What `>=` names, the lock has; "3.2" stands for 3.2.0, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    drivers = [*extras["mysql"], *extras["postgres"], *extras["redis"]]
    for lock, more in {"oldest.lock": drivers, "oldest-demo.lock": extras["demo"]}.items():
        tried = [line.split(" ")[0] for line in locked(LOCKED / lock)]
        versions = dict(re.split(r"(?:\[[a-z,]*\])?==", line, maxsplit=1) for line in tried)
        for asked in [*project["dependencies"], *more]:
            name, oldest = re.match(r"([a-z0-9-]+)(?:\[[a-z,]*\])?>=([0-9.]+)", asked).groups()
            assert versions[name].startswith(oldest), asked


def tracked_files() -> list[Path]:
    """Every file that is committed or about to be; in an unpacked sdist, every file."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists():
        run = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True)
        names = [os.fsdecode(name) for name in run.stdout.split(b"\0") if name]
        return [ROOT / name for name in names if (ROOT / name).is_file()]
    skipped = {".venv", "__pycache__", ".pytest_cache"}
    return [p for p in ROOT.rglob("*") if p.is_file() and not skipped & set(p.parts)]


def trespasses(name: str, text: str) -> list[str]:
    """What a file holds that none may, one line per find."""
    found = []
    for what, pattern in FORBIDDEN.items():
        if name.endswith(LINKS_ALLOWED.get(what, ())) or not pattern.search(text):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{name}:{number}: {what}: {line.strip()[:100]}")
    return found


def test_no_file_names_a_place_of_its_making() -> None:
    files = tracked_files()
    assert len(files) > 100
    found: list[str] = []
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        found += trespasses(name, path.read_text(errors="replace"))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "see ../share" + "d/notes.md",
        "open('share" + "d/golden')",
        "/wor" + "k/main/x",
        "https://pypi" + ".org/simple",
        "--trusted-" + "host internal",
        "AKIA" + "ABCDEFGHIJKLMNOP",
    ],
)
def test_a_trespass_is_seen(line: str) -> None:
    assert trespasses("x.py", line)
