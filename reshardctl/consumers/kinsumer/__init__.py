"""kinsumer: the original of Twitch and Snowplow's fork of it."""
