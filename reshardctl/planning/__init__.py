"""Positions to a proven plan, or the reason why there is none."""
