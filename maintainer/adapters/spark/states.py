"""Classifies Spark's errors: a FailureReason, and one line for people."""

from __future__ import annotations

from collections.abc import Sequence
from re import DOTALL, IGNORECASE
from re import compile as compile_regex

from maintainer.domain.conflict import ConflictKind
from maintainer.domain.job import FailureReason

_MAX_MESSAGE_CHARACTERS = 500

# Messages of Iceberg 1.4 to 1.12 and its catalogs about a commit that conflicts with another
# commit. Specific patterns come first.
_CONFLICTS: dict[ConflictKind, tuple[str, ...]] = {
    ConflictKind.NEW_DELETES: (
        "found new (?:position )?delete for replaced data file",
        "found concurrently added DV",
        "found new conflicting delete files",
    ),
    ConflictKind.FILES_GONE: (
        "missing (?:data|delete|required) files",
        "found conflicting deleted files",
    ),
    ConflictKind.NEW_FILES: (
        "found conflicting files that can contain",
        "conflicts with existing partition",
    ),
    ConflictKind.MANIFESTS_GONE: (
        "manifest is missing",
        "deleted manifest .* could not be found in the latest snapshot",
    ),
    ConflictKind.HISTORY_GONE: (
        "cannot determine history between",
        "snapshot ancestry validation failed",
    ),
    ConflictKind.SNAPSHOT_CHANGED: ("cannot remove dangling deletes: current snapshot changed",),
    ConflictKind.COMMITS_LOST: (
        "rewrite commits failed. This is more than the maximum allowed",
        "no rewrite commits succeeded",
    ),
    ConflictKind.REQUIREMENT_FAILED: (
        "CommitFailedException",
        "Cannot commit, ",
        "Requirement failed: ",
    ),
}
# A new table with the same name is not a conflict with a writer.
_REPLACED = "Requirement failed: (?:UUID does not match|table already exists)"
_UNDECIDED = "CommitStateUnknownException"
_UNANSWERED = "Error occurred while processing POST request"
_SEVERED = frozenset({"Py4JNetworkError"})
# The error of a task when a standalone cluster ends its application. Spark notices only later that
# its application was ended.
_REMOVED = "Master removed our application: KILLED"

# The first reason is used that matches any error of the chain, so specific reasons come first. The
# patterns are searched in "class: message".
_PATTERNS: dict[FailureReason, tuple[str, ...]] = {
    FailureReason.RUNNER_UNAVAILABLE: (
        "^RunnerUnavailableError: ",  # the daemon's own error: Spark did not start
        "No space left on device|Disk quota exceeded|File too large",
        "NoClassDefFoundError|ExceptionInInitializerError|UnsatisfiedLinkError",
    ),
    FailureReason.OUT_OF_MEMORY: (
        "OutOfMemoryError",
        "GC overhead limit",
        "Java heap space",
        # An executor ran out of memory: messages of a standalone cluster, of YARN (where SIGTERM
        # ends Java) and of Kubernetes.
        "ExecutorLostFailure.*exited with code 52\\b",
        "ExecutorLostFailure.*Exit status: (?:52|143)\\b",
        "possible container OOM|JVM OOM",
        "killed by YARN for exceeding (?:physical|virtual) memory limits",
    ),
    FailureReason.CONFLICT: tuple(
        pattern for patterns in _CONFLICTS.values() for pattern in patterns
    ),
    FailureReason.PERMISSION: (
        "AccessDenied",
        "AccessControlException",
        "ForbiddenException",
        "NotAuthorizedException",
        "Permission denied",
        # A file has the path of a directory. Only an administrator can repair this and the next
        # errors.
        "ParentNotDirectoryException",
        "Mkdirs failed to create",  # Hadoop's message for a directory without write permission
        "Read-only file system",
        "S3Exception.*Status Code: 40[13]",
        "Unable to load credentials",  # the catalog vends no credentials, and Spark has none
    ),
    FailureReason.TABLE_CHANGED: (
        "NoSuchTableException",
        "NoSuchNamespaceException",
        "TABLE_OR_VIEW_NOT_FOUND",
        "SCHEMA_NOT_FOUND",
        "Couldn't load table",
    ),
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
    FailureReason.MISSING_FILE: (
        "NotFoundException",
        "FileNotFoundException",
        "NoSuchFileException",
        "NoSuchKeyException",
        "FILE_NOT_EXIST",
    ),
    FailureReason.INVALID_REQUEST: (
        "ParseException",
        "AnalysisException",
        "IllegalArgumentException",
        "ValidationException",
        "UnsupportedOperationException",
    ),
}
_RULES = (
    (compile_regex(_REPLACED, IGNORECASE), FailureReason.TABLE_CHANGED),
    (compile_regex(_UNDECIDED), FailureReason.CATALOG_UNREACHABLE),
    *(
        (compile_regex("|".join(patterns), IGNORECASE | DOTALL), reason)
        for reason, patterns in _PATTERNS.items()
    ),
)
_CONFLICT_RULES = tuple(
    (compile_regex("|".join(patterns), IGNORECASE | DOTALL), kind)
    for kind, patterns in _CONFLICTS.items()
)
# Iceberg writes the complete metadata of a file into messages.
_DESCRIBED_FILE = compile_regex(r"\[?Generic(?:Data|Delete)File\{.*?file_path=([^,}]*).*")
_STACK_FRAME = compile_regex(
    r"\s*(at [\w.$/<>]+\(|\.\.\. \d+ more|JVM stacktrace:|Driver stacktrace:|== )"
)
_CLASS_PREFIX = compile_regex(
    r"^(?:(?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable)?:\s+)+"
)
_WRAPPERS = frozenset((
    "RuntimeException", "ExecutionException", "CompletionException", "SparkException",
    "InvocationTargetException", "UndeclaredThrowableException",
))  # fmt: skip


def classify(causes: Sequence[tuple[str, str]]) -> FailureReason:
    """Return the reason for a chain of errors (class name, message), outermost first."""
    chain = [f"{name}: {message}" for name, message in causes]
    for pattern, reason in _RULES:
        if any(pattern.search(link) for link in chain):
            return reason
    return FailureReason.OTHER


def find_conflict(causes: Sequence[tuple[str, str]]) -> ConflictKind | None:
    """Return the kind of conflict that the errors report; None if they report no conflict."""
    if classify(causes) is not FailureReason.CONFLICT:
        return None
    chain = [f"{name}: {message}" for name, message in causes]
    return next(
        kind for pattern, kind in _CONFLICT_RULES if any(pattern.search(link) for link in chain)
    )


def is_undecided(causes: Sequence[tuple[str, str]]) -> bool:
    """Return True if the catalog neither confirmed nor refused the commit; the table shows it.

    If a connection breaks, Iceberg's REST client reports only that a request failed.
    """
    return any(
        _UNDECIDED in name or (_simple_name(name) == "RESTException" and _UNANSWERED in message)
        for name, message in causes
    )


def is_severed(causes: Sequence[tuple[str, str]]) -> bool:
    """Return True if the connection to the JVM broke, for example because the JVM was killed.

    The statement may have committed before that.
    """
    return any(_simple_name(name) in _SEVERED for name, _ in causes)


def is_removed(causes: Sequence[tuple[str, str]]) -> bool:
    """Return True if the cluster ended Spark's application while the job ran.

    The statement may have committed before that.
    """
    return any(_REMOVED in message for _, message in causes)


def describe_failure(causes: Sequence[tuple[str, str]]) -> str:
    """Return one line for people: the innermost informative error without its stack trace."""
    for name, message in (*_find_informative(causes), *causes[::-1]):
        line = clean_message(message)
        if line:
            return f"{_simple_name(name)}: {line}"
    return _simple_name(causes[0][0]) if causes else "Spark gave no reason"


def clean_message(message: str) -> str:
    """Return a message's first line without leading class names, at most 500 characters."""
    for line in message.splitlines():
        if _STACK_FRAME.match(line):
            break
        text = _DESCRIBED_FILE.sub(r"\1", _CLASS_PREFIX.sub("", line.strip()))
        if text:
            return (
                text
                if len(text) <= _MAX_MESSAGE_CHARACTERS
                else text[: _MAX_MESSAGE_CHARACTERS - 1] + "…"
            )
    return ""


def _find_informative(causes: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the informative errors; the first is the error that gave the reason, or the innermost.

    A wrapper is used only if its own first line gives a reason and no other error does.
    """
    plain = [cause for cause in causes if not _is_wrapper(cause)]
    wrappers = [(name, clean_message(text)) for name, text in filter(_is_wrapper, causes)]
    for candidates in (plain, wrappers):
        for pattern, _ in _RULES:
            matching = [cause for cause in candidates if pattern.search(f"{cause[0]}: {cause[1]}")]
            if matching:
                return matching
    return plain[::-1]


def _is_wrapper(cause: tuple[str, str]) -> bool:
    return _simple_name(cause[0]) in _WRAPPERS


def _simple_name(class_name: str) -> str:
    return class_name.rpartition(".")[2]
