"""Pure: which orphan files may be removed, and who approves it."""
