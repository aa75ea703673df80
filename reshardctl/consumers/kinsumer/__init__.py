"""kinsumer: the original of Twitch and Snowplow's fork of it."""

from reshardctl.consumers.kinsumer.consumer import Kinsumer

__all__ = ["Kinsumer"]
