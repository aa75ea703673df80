"""Benchmarks, one file each; `scripts/bench/run` runs them. Nothing in the package imports this."""
