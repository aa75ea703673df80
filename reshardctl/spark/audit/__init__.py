"""The audit of a sink on DataFrames. Needs PySpark 3.5 or later, an extra.

    from reshardctl.spark.audit import Columns, audit
    found = audit(spark.read.parquet("s3a://bucket/orders"), lineage=lineage)
    found.facts.shards, found.doubled.show()
"""

from reshardctl.spark.audit.audit import Audited, audit
from reshardctl.spark.audit.columns import Columns

__all__ = ["Audited", "Columns", "audit"]
