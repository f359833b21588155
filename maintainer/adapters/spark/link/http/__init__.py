"""Drivers that poll an endpoint; all orders and messages are in the store."""
