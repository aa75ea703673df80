"""Jars of table formats for the PySpark that the tests run on, where they have been fetched.

Releases of Delta Lake and of Iceberg are built for one release of Spark each: there are some for
3.5 and for 4.0, and in November 2026 none for 4.3 (Maven Central, io.delta and org.apache.iceberg).
tests/proof/libraries/build fetches them.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

FETCHED = Path(__file__).parents[2] / "proof" / "libraries" / "spark"


def release() -> str:
    """Of PySpark, as "3.5"; "" where there is none."""
    try:
        return ".".join(metadata.version("pyspark").split(".")[:2])
    except metadata.PackageNotFoundError:
        return ""


def jars(name: str) -> list[Path]:
    """Empty where there is none for this release, or it has not been fetched."""
    return sorted((FETCHED / f"{name}-{release()}" / "target" / "lib").glob("*.jar"))


def exists(name: str) -> bool:
    """Whether there is one for this release, fetched or not."""
    return (FETCHED / f"{name}-{release()}").is_dir()


def joined(*configurations: dict[str, str]) -> dict[str, str]:
    """One configuration; the values of what several of them say are lists, and are joined."""
    made: dict[str, str] = {}
    for configuration in configurations:
        for name, value in configuration.items():
            made[name] = f"{made[name]},{value}" if name in made else value
    return made
