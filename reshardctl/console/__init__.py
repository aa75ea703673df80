"""The terminal, and the files that a command writes.

Other rooms import `destinations`, `failures`, `interrupt`, `output`, `progress`, `spark_progress`.
Read `destinations` first.
"""
