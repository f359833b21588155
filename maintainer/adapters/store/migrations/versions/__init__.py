"""One file for each revision. A released revision never changes."""
