"""Stores that are files, on disk and on S3: trees of them, and texts that hold many rows."""
