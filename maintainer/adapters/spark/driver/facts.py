"""The report of a started Spark: its versions, and the catalogs that it can load."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, TypeAlias

from .results import read_causes

_PREFIX = "spark.sql.catalog."
_MAX_CHARACTERS = 300  # of a catalog's error
# Words in the names of settings whose values must never be shown.
_SECRETS = ("password", "passwd", "secret", "token", "credential", "authorization", "key")
_MIN_SECRET_CHARACTERS = 4  # shorter values are not hidden, because they may be ordinary words

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


def read_versions(java: JavaObject) -> dict[str, str]:
    """Return the versions of Scala, Java and Iceberg; an unknown version is empty."""
    return {
        "scala": _ask(java, "scala.util.Properties.versionNumberString"),
        "java": _ask(java, "java.lang.System.getProperty", "java.version"),
        "iceberg": _ask(java, "org.apache.iceberg.IcebergBuild.version"),
    }


def load_catalogs(
    new_session: Callable[[], JavaObject], conf: Mapping[str, str], seconds: float
) -> dict[str, str]:
    """Load each configured catalog once; return its error as one line, empty if there is none.

    Each catalog has its own thread and session, because a catalog may wait for its server for ever.
    No answer within `seconds` is an error.
    """
    answers: dict[str, str] = {}

    def load(name: str) -> None:
        try:
            new_session().sql(f"SET CATALOG {_quote(name)}")
        # Catalogs raise many kinds of Java's exceptions.
        except Exception as error:  # noqa: BLE001
            answers[name] = _write_line(error, conf)
        else:
            answers[name] = ""

    names = sorted(find_catalogs(conf))
    threads = [threading.Thread(target=load, args=(name,), daemon=True) for name in names]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    known = dict(answers)
    return {name: known.get(name, f"no answer within {seconds:g} s") for name in names}


def find_catalogs(conf: Mapping[str, str]) -> set[str]:
    """Return the names of the configured catalogs."""
    return {
        key.removeprefix(_PREFIX)
        for key in conf
        if key.startswith(_PREFIX) and "." not in key.removeprefix(_PREFIX)
    }


def _quote(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _ask(java: JavaObject, path: str, *arguments: str) -> str:
    # py4j takes a class that does not exist for a Java package, which cannot be called.
    with contextlib.suppress(Exception):
        return str(attrgetter(path)(java)(*arguments) or "")
    return ""


def _write_line(error: BaseException, conf: Mapping[str, str]) -> str:
    """Return the outermost and the innermost cause in one line, without secrets of the settings."""
    causes = read_causes(error)
    messages = [cause["message"] or cause["class"] for cause in (causes[0], causes[-1])]
    text = " ".join(": ".join(dict.fromkeys(messages)).split())
    for value in _find_secrets(conf):
        text = text.replace(value, "***")
    return text[:_MAX_CHARACTERS]


def _find_secrets(conf: Mapping[str, str]) -> list[str]:
    return sorted(
        {
            value
            for key, value in conf.items()
            if len(value) >= _MIN_SECRET_CHARACTERS
            and any(word in key.lower() for word in _SECRETS)
        },
        key=len,
        reverse=True,
    )
