"""The way of a neglected table back to health: the decision, repeated on predicted states."""
