"""What brings a neglected table back to health: the decision, repeated on predicted states."""
