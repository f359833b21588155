"""Pure: what should be done, and why or why not."""
