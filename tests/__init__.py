"""Tests are the specification."""
