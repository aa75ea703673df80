"""Random stores of each library, started by the library itself (or its reference consumer) and
compared with what the core forecasts and plans. ``python -m tests.proof.drawn --help``."""
