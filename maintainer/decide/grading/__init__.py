"""Pure: the band of a table, and advice that no rule can carry out."""
