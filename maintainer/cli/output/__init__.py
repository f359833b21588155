"""Prints values, lists and errors, and writes the log."""
