"""The Kinesis Client Library, 2.3 to 3.5."""

from reshardctl.consumers.kcl.consumer import Kcl

__all__ = ["Kcl"]
