"""Fakes: each at the path of the real thing."""
