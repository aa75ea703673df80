"""Benchmarks, one file each; `scripts/bench` runs them. Nothing in the package imports this."""
