"""The result of a statement: its first row, or the causes of its failure."""

from __future__ import annotations

import contextlib
import re
from typing import Any, TypeAlias

# Begins a statement that the driver program carries out. It runs the query that follows, and then
# the query that this query returns. Spark has EXECUTE IMMEDIATE only from version 4.0 on.
EXECUTE = "EXECUTE RESULT OF "
MAX_MESSAGE_CHARACTERS = 4000
# Java tries to initialize a class only once.
_BROKEN = re.compile("ExceptionInInitializerError|Could not initialize class|UnsatisfiedLinkError")
_REFUSED = "NotAuthorizedException"
MAX_CAUSES = 10

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


def execute_result(session: JavaObject, statement: str) -> JavaObject:
    """Run the query that the query of an EXECUTE statement returns."""
    return session.sql(session.sql(statement.removeprefix(EXECUTE)).first()[0])


def read_first_row(frame: JavaObject) -> dict[str, Any]:
    """Return the first row; empty if there is no row."""
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    return rows[0] if rows else {}


def read_causes(error: BaseException) -> list[dict[str, str]]:
    """Return the Java causes (class, message), outermost first; else Python's error."""
    throwable = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    causes: list[dict[str, str]] = []
    with contextlib.suppress(Exception):  # if the JVM has ended, the causes read so far are enough
        while throwable is not None and len(causes) < MAX_CAUSES:
            causes.append(
                {
                    "class": throwable.getClass().getName(),
                    "message": str(throwable.getMessage() or "")[:MAX_MESSAGE_CHARACTERS],
                }
            )
            throwable = throwable.getCause()
    return causes or [
        {"class": type(error).__name__, "message": str(error)[:MAX_MESSAGE_CHARACTERS]}
    ]


def split_cause(text: str) -> dict[str, str]:
    """Read a cause from Spark's text, which begins with the name of the class.

    Only the first line is used. A stack trace follows, but the error itself has the inner causes.
    """
    text = text.partition("\n")[0]
    message = re.sub(r"^[\w.$]*", "", text)
    name = text.removesuffix(message)
    return {"class": name, "message": message.lstrip(": ")[:MAX_MESSAGE_CHARACTERS]}


def has_old_token(causes: list[dict[str, str]]) -> bool:
    """Return True if a catalog refused the caller, for example because its token has expired.

    Iceberg's catalogs keep a token for the time that the server has given.
    """
    return any(link["class"].endswith(_REFUSED) for link in causes)


def has_broken_class(causes: list[dict[str, str]]) -> bool:
    """Return True if the JVM can never load a class, for example after the disk was full."""
    return any(_BROKEN.search(f"{link['class']}: {link['message']}") for link in causes)
