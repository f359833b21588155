"""What a machine must have, beyond what make setup brings, for some of the tests: where it is found
and how it is got.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
POSTGRES_HOMES = (
    "/usr/lib/postgresql",
    "/usr/pgsql",
    "/opt/homebrew/opt",
    "/usr/local/opt",
)  # Debian, Red Hat, Homebrew


def find_chromium() -> Path | None:
    """The browser on the PATH."""
    found = next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
    return Path(found) if found else None


def find_postgres_binaries() -> Path | None:
    """The directory of initdb and pg_ctl: on the PATH, else the newest version in the
    distributions' own places.
    """
    on_path = shutil.which("initdb")
    installed = (path.parent for home in POSTGRES_HOMES for path in Path(home).glob("*/bin/initdb"))
    candidates = (
        [Path(on_path).resolve().parent]
        if on_path
        else sorted(installed, key=read_version, reverse=True)
    )
    return next((directory for directory in candidates if (directory / "pg_ctl").exists()), None)


def read_version(directory: Path) -> tuple[int, ...]:
    """The numbers in the name of an installation: (15,) for .../postgresql/15/bin, (16,) for
    .../postgresql@16/bin.
    """
    return tuple(
        int(number)
        for number in "".join(c if c.isdigit() else " " for c in directory.parent.name).split()
    )


@dataclass(frozen=True)
class Prerequisite:
    """A program that tests of one marker need."""

    marker: str
    name: str
    find: Callable[[], Path | None]
    advice: str


def find_prometheus() -> Path | None:
    """The server, if its tool is there too."""
    server, tool = shutil.which("prometheus"), shutil.which("promtool")
    return Path(server) if server and tool else None


PREREQUISITES = (
    Prerequisite(
        "browser",
        "Chromium",
        find_chromium,
        "install it (Debian and Ubuntu: apt-get install --no-install-recommends chromium)",
    ),
    Prerequisite(
        "postgres",
        "PostgreSQL's initdb and pg_ctl",
        find_postgres_binaries,
        "install them (Debian and Ubuntu: apt-get install postgresql)",
    ),
    Prerequisite(
        "prometheus",
        "Prometheus and promtool",
        find_prometheus,
        "install them (Debian and Ubuntu: apt-get install --no-install-recommends prometheus)",
    ),
)


def find_missing(
    markers: Iterable[str], prerequisites: Iterable[Prerequisite] = PREREQUISITES
) -> Prerequisite | None:
    """The first prerequisite of a test's markers that this machine does not have."""
    names = set(markers)
    return next(
        (needed for needed in prerequisites if needed.marker in names and needed.find() is None),
        None,
    )
