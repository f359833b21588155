"""The daemon's log: one line an event, whatever the names in it hold."""

from __future__ import annotations

import logging
import sys
from types import TracebackType

from maintainer.domain.visible import make_visible

_QUIET = ("apscheduler", "alembic", "pyiceberg")
_INDENT = (
    "    "  # before the lines of a traceback: a line that begins with a time is an event of ours
)
_ExceptionInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)


class VisibleFormatter(logging.Formatter):
    """Writes control characters as escapes, so that no name begins a line or steers a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """The event in one line."""
        return make_visible(super().formatMessage(record))

    def formatException(self, ei: _ExceptionInfo) -> str:  # noqa: N802 - logging's name
        """The traceback in indented lines."""
        return "\n".join(
            _INDENT + make_visible(line) for line in super().formatException(ei).split("\n")
        )


def configure_log() -> None:
    """Everything from INFO up to standard error; libraries from WARNING up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(VisibleFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def guard_warnings() -> None:
    """What libraries warn of while a command runs that keeps no log goes to the terminal in the
    same way.
    """
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleFormatter("%(message)s"))
