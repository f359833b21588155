"""What changed: the tables of a catalog and their current metadata."""
