"""Drivers that call home: they poll an endpoint, and all that passes lies in the store."""
