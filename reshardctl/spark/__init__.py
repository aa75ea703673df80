"""What needs PySpark: an extra, `reshardctl[spark]`, imported when it is used.

`source` is the source `kinesis-lineage`, `audit` reads a sink.

Other rooms import `audit`, `audit.audit`, `audit.columns`, `functions`, `hadoop`, `hadoop_owners`,
`session`. Read `session` first.
"""
