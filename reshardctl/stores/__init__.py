"""Stores by medium: I/O only, one file each."""
