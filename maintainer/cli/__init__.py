"""The command line."""

from maintainer.cli import commands
from maintainer.cli.log import guard_warnings

__all__ = ["main"]


def main() -> None:
    """Run the command of the command line."""
    guard_warnings()
    commands.main()
