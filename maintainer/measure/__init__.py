"""Pure: computes a table's health from its inventory."""
