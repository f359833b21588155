"""The daemon's log: one line for each event, even if a name contains line breaks."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal

from maintainer.domain.redaction import make_visible

_FIELD = re.compile(r"(?P<name>\w+)=(?P<value>\S+)")
_PLACEHOLDER = re.compile(r"%(?:\.\d+)?[a-z]")
_PACKAGE = "maintainer"
_STANDARD = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"})
_INDENT = "    "  # of a traceback: only the lines of events begin in the first column
_ExceptionInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)


class VisibleFormatter(logging.Formatter):
    """Escapes control characters, so that no name can begin a line or control a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the event as one line; further fields of the daemon's events are at the end."""
        fields = (
            [f" {name}={value}" for name, value in vars(record).items() if name not in _STANDARD]
            if record.name.partition(".")[0] == _PACKAGE
            else ()
        )
        return make_visible("".join((super().formatMessage(record), *fields)))

    def formatException(self, ei: _ExceptionInfo) -> str:  # noqa: N802 - logging's name
        """Return the traceback as indented lines."""
        return "\n".join(
            _INDENT + make_visible(line) for line in super().formatException(ei).split("\n")
        )


class JsonFormatter(logging.Formatter):
    """Writes each event as a JSON object: time, level, event, and the event's fields by name."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the event; numbers stay numbers, and the text after the fields is the message."""
        is_ours = record.name.partition(".")[0] == _PACKAGE
        fields = _read_event(record) if is_ours else {"event": record.name}
        if is_ours:
            fields |= {name: each for name, each in vars(record).items() if name not in _STANDARD}
        else:
            fields["message"] = record.getMessage()
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        head = {"time": at.replace("+00:00", "Z"), "level": record.levelname.lower()}
        return json.dumps(head | fields, default=str)


def _read_event(record: logging.LogRecord) -> dict[str, object]:
    """Read the fields of an event: its template is `noun.verb name=%s other=%d and a message`."""
    arguments = list(record.args) if isinstance(record.args, tuple) else []
    event, *words = str(record.msg).split(" ")
    fields = {"event": _take(event, arguments)}
    while words and (found := _FIELD.fullmatch(words[0])):
        fields[found["name"]] = _take(found["value"], arguments)
        del words[0]
    if words:
        fields["message"] = _take(" ".join(words), arguments)
    return fields


def _take(template: str, arguments: list[object]) -> object:
    """Fill the template with the first arguments, and remove them."""
    number = len(_PLACEHOLDER.findall(template))
    given, arguments[:number] = tuple(arguments[:number]), []
    is_value = number == 1 and _PLACEHOLDER.fullmatch(template)
    if is_value and (given[0] is None or isinstance(given[0], int | float)):
        return given[0]
    return str(given[0]) if is_value else template % given


def configure_log(style: Literal["text", "json"] = "text", level: str = "info") -> None:
    """Log to standard error: the project's events from `level` up, libraries' from WARNING up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormatter()
        if style == "json"
        else VisibleFormatter("%(asctime)s %(levelname)s %(message)s")
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger(_PACKAGE).setLevel(level.upper())


def guard_warnings() -> None:
    """Escape control characters in the warnings of libraries when a command has no log."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleFormatter("%(message)s"))
