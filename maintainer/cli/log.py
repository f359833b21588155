"""The daemon's log: one line for each event, even if names contain line breaks."""

from __future__ import annotations

import logging
import sys
from types import TracebackType

from maintainer.domain.visible import make_visible

_QUIET = ("apscheduler", "alembic", "httpx", "httpx2", "pyiceberg")
_OURS = "maintainer"
_STANDARD = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"})
_INDENT = "    "  # indents a traceback: a line that begins with a time is an event
_ExceptionInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)


class VisibleFormatter(logging.Formatter):
    """Escapes control characters, so that no name can begin a line or control a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """The event in one line, with the further fields of our own events at its end."""
        fields = (
            [f" {name}={value}" for name, value in vars(record).items() if name not in _STANDARD]
            if record.name.partition(".")[0] == _OURS
            else ()
        )
        return make_visible("".join((super().formatMessage(record), *fields)))

    def formatException(self, ei: _ExceptionInfo) -> str:  # noqa: N802 - logging's name
        """The traceback in indented lines."""
        return "\n".join(
            _INDENT + make_visible(line) for line in super().formatException(ei).split("\n")
        )


def configure_log() -> None:
    """Log to standard error: our messages from INFO up, those of libraries from WARNING up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(VisibleFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def guard_warnings() -> None:
    """Print warnings of libraries escaped, too, while a command runs without a log."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleFormatter("%(message)s"))
