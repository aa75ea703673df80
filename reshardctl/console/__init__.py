"""The terminal, and the files that a command writes.

Other rooms import `destinations`, `error_documents`, `failures`, `interrupt`, `output`, `progress`,
`spark_progress`, `stdout`. Read `destinations` first.
"""
