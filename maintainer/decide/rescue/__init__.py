"""Rescue plans of neglected tables: the decision, repeated on predicted states."""
