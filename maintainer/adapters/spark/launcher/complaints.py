"""Finds the line of a driver's log that says what went wrong."""

from __future__ import annotations

import re

_COMPLAINT = re.compile(
    r"^(Exception in thread|Error: |Error occurred|Caused by: |[\w.]+(Exception|Error): )"
)


def find_complaint(log: str) -> str:
    """Return the first line that looks like an error, or ""."""
    return next((line.strip() for line in log.splitlines() if _COMPLAINT.search(line)), "")
