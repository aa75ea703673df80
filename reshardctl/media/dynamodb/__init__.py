"""DynamoDB tables: whole consistent reads, guarded writes, and what happened to lost answers."""

from reshardctl.media.dynamodb.actions import ACTIONS
from reshardctl.media.dynamodb.medium import DynamoDb

__all__ = ["ACTIONS", "DynamoDb"]
