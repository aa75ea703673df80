"""The audit of a sink on DataFrames.

    from reshardctl.spark.audit import Columns, audit, audit_path
    found = audit(spark.table("lake.db.orders"), lineage=lineage, columns=Columns(order="batch"))
    found.facts.shards, found.doubled.show()

Needs PySpark 3.5 or later, an extra.
"""

from reshardctl.spark.audit.audit import Audited, audit
from reshardctl.spark.audit.columns import Columns
from reshardctl.spark.audit.sink import audit_path

__all__ = ["Audited", "Columns", "audit", "audit_path"]
