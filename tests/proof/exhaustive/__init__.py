"""The simulator: random streams and tables, through the core and through the reference consumer."""
