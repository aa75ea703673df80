"""Recorded starts of the real libraries.

What a library does at a start depends on the stored bytes, the stream, the release, its options and
the program that runs it, and on nothing of ours. So each executed start is recorded under a digest
of exactly these inputs (`digest.py`), in `tests/proof/libraries/recorded` (`records.py`). A test
whose inputs have a record is judged by it; inputs without one are run, and so is a sample of those
with one (`sample.py`): a start that now ends otherwise than its record says is an error.
"""
