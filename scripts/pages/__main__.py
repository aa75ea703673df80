"""Writes all files that are made from the code, or those that are named.

    .venv/bin/python -m scripts.pages
    .venv/bin/python -m scripts.pages rules errors

`git diff` shows what changed; nothing is printed.
"""

from __future__ import annotations

import sys

from scripts.pages import NAMES, written


def main(names: list[str]) -> None:
    """Write the files of these modules, or of all."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        sys.exit(f"no page is called {unknown[0]}; there are: {' '.join(NAMES)}")
    for name in names or NAMES:
        for path, text in written(name).items():
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
