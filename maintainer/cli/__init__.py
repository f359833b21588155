"""The command line."""

from maintainer.adapters.garbage import collect_rarely
from maintainer.cli import commands
from maintainer.cli.output.log import guard_warnings

__all__ = ["main"]


def main() -> None:
    """Run the command that was typed."""
    collect_rarely()
    guard_warnings()
    commands.main()
