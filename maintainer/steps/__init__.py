"""Straight lines: read ports, call one pure function, write ports."""
