"""Lighthouse on the built page."""
