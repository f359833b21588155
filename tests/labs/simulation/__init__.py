"""Simulates a fleet in virtual time, maintained by the code that decides in production."""
