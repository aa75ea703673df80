"""Writes a proven plan to a store, and undoes it."""
