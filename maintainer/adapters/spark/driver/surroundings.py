"""Facts about the driver's machine: the user, the directories of work and of Spark, the jars."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping, MutableMapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .jvm import GATEWAY

WORK, JARS = "MAINTAINER_WORK_DIR", "MAINTAINER_JARS_DIR"
_IN_POD = "KUBERNETES_SERVICE_HOST"  # set in every container of a pod
_LIBRARY = "libnss_wrapper.so"
_LIBRARY_FOLDERS = ("usr/lib*", "usr/lib/*")  # in most distributions, and in Debian


def name_user(environ: MutableMapping[str, str], root: Path = Path("/")) -> None:
    """Give the user id a name that child processes see, if the system has no name for it.

    A cluster may choose such a user id, and Hadoop's login fails without a name. libnss_wrapper
    reads names from files that this function writes. If it is not installed, nothing changes.
    """
    user, group = os.getuid(), os.getgid()
    if _has_name(user):
        return
    found = [path for folder in _LIBRARY_FOLDERS for path in root.glob(f"{folder}/{_LIBRARY}")]
    if not found:
        return
    home = environ.get("HOME") or "/"
    directory = Path(tempfile.mkdtemp(prefix="user-"))
    names = {
        "NSS_WRAPPER_PASSWD": f"maintainer:x:{user}:{group}::{home}:/bin/false\n",
        "NSS_WRAPPER_GROUP": f"maintainer:x:{group}:\n",
    }
    for variable, line in names.items():
        file = directory / variable.lower()
        file.write_text(line, encoding="utf-8")
        environ[variable] = str(file)
    environ["LD_PRELOAD"] = " ".join(filter(None, [environ.get("LD_PRELOAD"), str(found[0])]))


def _has_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def complete_settings(
    settings: dict[str, Any], environ: MutableMapping[str, str]
) -> dict[str, Any]:
    """Return the start settings, completed with the values of this machine.

    Settings from a daemon on the same machine are complete already. Settings from another machine
    have no directory. RuntimeError says what is missing on this machine.
    """
    if "directory" in settings:
        return settings
    made = tempfile.mkdtemp(prefix="driver-", dir=environ.get(WORK) or None)
    directory = str(Path(made).absolute())
    chosen = {"directory": directory, "owns_directory": True}
    warehouse = {"spark.sql.warehouse.dir": (Path(directory) / "warehouse").as_uri()}
    if GATEWAY in environ:  # YARN has copied the jars, and chosen Spark's directories
        return settings | chosen | {"conf": {**warehouse, **settings["conf"]}}
    environ.setdefault("SPARK_HOME", str(_find_spark()))
    environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given = str(settings.get("java_options", ""))
    jars = _find_jars(environ)
    fetched = (
        {}
        if str(settings.get("master", "local")).startswith("local")
        else {"spark.jars": ",".join(Path(jar).as_uri() for jar in jars)}
    )  # executors fetch the jars from this driver
    return settings | {
        **chosen,
        "jars": jars,
        "java_options": f"{given} -Djava.io.tmpdir={directory}".strip(),
        "conf": {
            "spark.local.dir": directory,
            **warehouse,
            **fetched,
            **settings["conf"],
        },
    }


def describe_place(environ: Mapping[str, str]) -> dict[str, str | int]:
    """Return the host of this driver. Kubernetes names a pod's host after the pod."""
    host = socket.gethostname()
    pod = host if _IN_POD in environ else ""
    return {"host": host, "pod": pod, "process": os.getpid()}


def remove_directory(settings: dict[str, Any]) -> None:
    """Remove the directory that complete_settings made; a daemon removes its own directories."""
    if settings.get("owns_directory"):
        shutil.rmtree(settings["directory"], ignore_errors=True)


def _find_spark() -> Path:
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise RuntimeError(f"pyspark is not installed in {sys.prefix}")
    return Path(found.origin).parent


def _find_jars(environ: MutableMapping[str, str]) -> list[str]:
    directory = Path(
        environ.get(JARS) or Path(sys.prefix) / "share" / "iceberg-maintainer" / "jars"
    )
    jars = sorted(str(path) for path in directory.glob("*.jar"))
    if not jars:
        raise RuntimeError(f"there are no jars in {directory}; {JARS} names another directory")
    return jars
