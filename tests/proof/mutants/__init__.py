"""Mutants: small changes to the program, each of which some test has to notice."""
