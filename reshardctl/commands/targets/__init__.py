"""Consumers by locator, by name in the configuration, or in a snapshot."""
