"""DynamoDB tables: whole consistent reads, guarded writes, and the outcome of lost answers."""

from reshardctl.stores.dynamodb.actions import ACTIONS
from reshardctl.stores.dynamodb.medium import DynamoDb

__all__ = ["ACTIONS", "DynamoDb"]
