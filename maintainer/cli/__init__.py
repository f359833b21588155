"""The command line."""

import gc

from maintainer.cli import commands
from maintainer.cli.log import guard_warnings

__all__ = ["main"]

# Objects between two looks for garbage, instead of Python's 700. Imported modules stay for ever: to
# look among them again and again took a sixth of the time of a short command.
_GARBAGE_THRESHOLD = 50_000


def main() -> None:
    """Run the command of the command line."""
    gc.set_threshold(_GARBAGE_THRESHOLD)
    guard_warnings()
    commands.main()
