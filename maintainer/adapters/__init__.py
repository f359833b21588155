"""Implementations of the ports, each with one library. They do not know each other."""
