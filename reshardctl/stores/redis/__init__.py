"""Redis as a store: strings under keys that are made of three names."""

from reshardctl.stores.redis.strings import Strings

__all__ = ["Strings"]
