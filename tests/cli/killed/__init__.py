"""The crash tier of the file stores: killed at every system call that changes a name or a file."""
