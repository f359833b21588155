"""Pure: what is. From a table's inventory to its health."""
