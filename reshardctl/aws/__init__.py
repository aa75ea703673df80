"""What every AWS call shares: sessions, error codes, pauses, malformed answers."""
