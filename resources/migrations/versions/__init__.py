"""One migration a file, oldest first."""
