"""What is wrong, by which rule, and what a report says of it."""
