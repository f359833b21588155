"""The command line."""

from maintainer.cli.commands import main

__all__ = ["main"]
