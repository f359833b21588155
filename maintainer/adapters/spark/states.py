"""What Spark's errors mean: a reason from the closed set, and one clear line."""

from __future__ import annotations

from collections.abc import Sequence
from re import DOTALL, IGNORECASE
from re import compile as compile_regex

from maintainer.domain.job import FailureReason

_MAX_MESSAGE_CHARACTERS = 500

# The first reason that matches any link of the chain wins: the narrow before the wide. Searched in "class: message".
_PATTERNS: dict[FailureReason, tuple[str, ...]] = {
    FailureReason.OUT_OF_MEMORY: ("OutOfMemoryError", "GC overhead limit", "Java heap space"),
    FailureReason.CONFLICT: (
        "CommitFailedException",
        "CommitStateUnknownException",
        "ValidationException.*(?:found new|missing data files|conflicting)",
        "Cannot commit, ",
        "Manifest is missing",
    ),
    FailureReason.PERMISSION: (
        "AccessDenied",
        "AccessControlException",
        "ForbiddenException",
        "NotAuthorizedException",
        "Permission denied",
        "S3Exception.*Status Code: 40[13]",
    ),
    FailureReason.TABLE_CHANGED: ("NoSuchTableException", "NoSuchNamespaceException", "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "Couldn't load table"),
    FailureReason.CATALOG_UNREACHABLE: (
        "SQLITE_BUSY",
        "SQLITE_CANTOPEN",
        "database is locked",
        "UncheckedSQLException",
        "PSQLException",
        "ServiceUnavailableException",
        "ServiceFailureException",
        "RESTException",
        "ConnectException",
        "UnknownHostException",
        "SocketTimeoutException",
        "Connection refused",
        "TTransportException",
    ),
    FailureReason.MISSING_FILE: ("NotFoundException", "FileNotFoundException", "NoSuchFileException", "NoSuchKeyException", "FILE_NOT_EXIST"),
    FailureReason.INVALID_REQUEST: ("ParseException", "AnalysisException", "IllegalArgumentException", "ValidationException", "UnsupportedOperationException"),
}
_RULES = tuple((compile_regex("|".join(patterns), IGNORECASE | DOTALL), reason) for reason, patterns in _PATTERNS.items())
_STACK_FRAME = compile_regex(r"\s*(at [\w.$/<>]+\(|\.\.\. \d+ more|JVM stacktrace:|Driver stacktrace:|== )")
_CLASS_PREFIX = compile_regex(r"^(?:(?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable)?:\s+)+")
_WRAPPERS = frozenset(
    {"RuntimeException", "ExecutionException", "CompletionException", "SparkException", "InvocationTargetException", "UndeclaredThrowableException"}
)


def classify(causes: Sequence[tuple[str, str]]) -> FailureReason:
    """The reason behind a chain of errors, outermost first, each as (class name, message)."""
    chain = [f"{name}: {message}" for name, message in causes]
    for pattern, reason in _RULES:
        if any(pattern.search(link) for link in chain):
            return reason
    return FailureReason.OTHER


def describe_failure(causes: Sequence[tuple[str, str]]) -> str:
    """One line for people: of the innermost error that says something, without stack traces and wrappers."""
    for name, message in (*_telling(causes), *causes):
        line = clean_message(message)
        if line:
            return f"{name.rpartition('.')[2]}: {line}"
    return causes[0][0].rpartition(".")[2] if causes else "Spark gave no reason"


def clean_message(message: str) -> str:
    """The first line of an error's message without class names before it; at most 500 characters."""
    for line in message.splitlines():
        if _STACK_FRAME.match(line):
            break
        text = _CLASS_PREFIX.sub("", line.strip())
        if text:
            return text if len(text) <= _MAX_MESSAGE_CHARACTERS else text[: _MAX_MESSAGE_CHARACTERS - 1] + "…"
    return ""


def _telling(causes: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Errors that are no mere wrappers, the one that decided the reason first, else the innermost."""
    plain = [cause for cause in causes if cause[0].rpartition(".")[2] not in _WRAPPERS]
    for pattern, _ in _RULES:
        matching = [cause for cause in plain if pattern.search(f"{cause[0]}: {cause[1]}")]
        if matching:
            return matching
    return plain[::-1]
