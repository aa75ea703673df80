"""Count what the claims about each library rest on; docs/evidence.md says what each column is.

    .venv/bin/python -m scripts.pages.evidence_counts
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

TESTS = Path(__file__).parents[2] / "tests"
LIBRARIES = ("kcl", "kinesis-consumer", "kinsumer", "quickwit", "spark")
COLUMNS = ("cases", "golden files", "reference files", "recorded starts", "drawn starts")


def counts(library: str) -> Mapping[str, int]:
    """How much there is for one library, by column."""
    stem = library.replace("-", "_")
    return {
        "cases": len([path for folder in _folders("cases", library) for path in
                      folder.rglob("*.toml")]),
        "golden files": len([path for folder in _folders("golden", library) for path in
                             folder.rglob("*") if path.is_file() and path.suffix != ".md"]),
        "reference files": len(list((TESTS / "proof" / "reference").glob(f"{stem}*.py"))),
        "recorded starts": _lines(TESTS / "proof" / "libraries" / "recorded", library),
        "drawn starts": _lines(TESTS / "proof" / "drawn" / "recorded", library),
    }


def _folders(kind: str, library: str) -> list[Path]:
    """The folder of a library and those of its variants, such as kcl-tables."""
    return [
        path for path in (TESTS / kind).iterdir()
        if path.is_dir() and (path.name == library or path.name.startswith(f"{library}-"))
    ]


def _lines(folder: Path, library: str) -> int:
    """The lines of a library's records: one start each."""
    files = folder.glob(f"{library}-*.jsonl")
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def main() -> None:
    """Print a table, one line for each library."""
    print(f"{'':18}" + "".join(f"{column:>17}" for column in COLUMNS))
    for library in LIBRARIES:
        numbers = counts(library)
        print(f"{library:18}" + "".join(f"{numbers[column]:>17,}" for column in COLUMNS))


if __name__ == "__main__":
    main()
