"""Converts values to JSON and back, strictly."""
