"""What every AWS call has in common: sessions, error codes, pauses, broken answers."""
