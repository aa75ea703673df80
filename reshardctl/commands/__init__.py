"""One module for each use case, called by the command line."""
