"""Stores: one folder per medium, I/O only."""
