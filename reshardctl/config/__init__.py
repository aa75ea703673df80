"""`reshardctl.toml`: the streams and consumers, and what is wanted of each."""
