"""Starts drivers as processes of this machine, and records who owns them."""
