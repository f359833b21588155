"""The result of a statement: its first row, or the causes of its failure."""

from __future__ import annotations

import contextlib
import re
from typing import Any, TypeAlias

# A statement of ours: a query follows, whose one value is the query to run. Spark's own EXECUTE
# IMMEDIATE came with version 4.0.
EXECUTE = "EXECUTE RESULT OF "
MAX_MESSAGE_CHARACTERS = 4000
# Java tries to initialize a class once.
_BROKEN = re.compile("ExceptionInInitializerError|Could not initialize class|UnsatisfiedLinkError")
_REFUSED = "NotAuthorizedException"
MAX_CAUSES = 10

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


def execute_result(session: JavaObject, statement: str) -> JavaObject:
    """Run the query that an EXECUTE statement's own query returns."""
    return session.sql(session.sql(statement.removeprefix(EXECUTE)).first()[0])


def read_first_row(frame: JavaObject) -> dict[str, Any]:
    """Return the first row, or an empty one if there is none."""
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    return rows[0] if rows else {}


def read_causes(error: BaseException) -> list[dict[str, str]]:
    """Return the Java causes (class, message), outermost first; else Python's error."""
    throwable = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    causes: list[dict[str, str]] = []
    with contextlib.suppress(Exception):  # the JVM may be gone by now; the known part is enough
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
    """Return a cause from Spark's text of it, which begins with the name of the class.

    Its first line: a stack trace follows, whose inner causes the error itself has.
    """
    text = text.partition("\n")[0]
    message = re.sub(r"^[\w.$]*", "", text)
    name = text.removesuffix(message)
    return {"class": name, "message": message.lstrip(": ")[:MAX_MESSAGE_CHARACTERS]}


def has_old_token(causes: list[dict[str, str]]) -> bool:
    """Return True if a catalog refused the caller, as after a token has expired.

    A catalog of Iceberg's keeps its token for as long as the server said.
    """
    return any(link["class"].endswith(_REFUSED) for link in causes)


def has_broken_class(causes: list[dict[str, str]]) -> bool:
    """Return True if the JVM lacks a class that it will never have, such as after a full disk."""
    return any(_BROKEN.search(f"{link['class']}: {link['message']}") for link in causes)
