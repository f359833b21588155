"""The tables of a catalog, their current metadata and their changes."""
