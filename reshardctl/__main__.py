"""`python -m reshardctl`."""

from reshardctl.cli import main

main()
