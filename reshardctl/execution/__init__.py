"""A proven plan into a store, and back."""
