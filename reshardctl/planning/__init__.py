"""Turns positions into a proven plan, or into the reason why there is none."""
