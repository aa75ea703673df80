"""Tables of a relational database as stores: `postgres.py` and `mysql.py` reach the servers."""

from reshardctl.stores.sql.table import SqlTable

__all__ = ["SqlTable"]
