"""DynamoDB tables: whole consistent reads, guarded writes, and the outcome of lost answers."""

from reshardctl.stores.dynamodb.client import ACTIONS
from reshardctl.stores.dynamodb.store import DynamoDb, request

__all__ = ["ACTIONS", "DynamoDb", "request"]
