"""Stores that are files: trees of them, and texts that hold many rows; on disk and on S3."""
