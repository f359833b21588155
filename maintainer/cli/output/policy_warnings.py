"""Warnings on standard error about policies that have no effect."""

from __future__ import annotations

from maintainer.cli.output.console import echo
from maintainer.ports import Ports
from maintainer.requests.policy_status import find_silent_problems

MOST_LINES = 10


def warn_of_policies(ports: Ports) -> None:
    """Print a line for each refused policy, and for each pattern that selects no table."""
    problems = find_silent_problems(ports)
    for problem in problems[:MOST_LINES]:
        word = "note" if problem.is_note else "warning"
        echo(f"{word}: {problem.source}: {problem.message}", is_error=True)
    if len(problems) > MOST_LINES:
        echo(
            f"warning: {len(problems) - MOST_LINES:,} more problems of policies; "
            f"`maintainer policies check` lists all",
            is_error=True,
        )
