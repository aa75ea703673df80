"""What each library stores, and what it does at its next start."""
