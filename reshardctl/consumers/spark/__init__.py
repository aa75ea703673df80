"""Checkpoint directories of Spark Structured Streaming."""
