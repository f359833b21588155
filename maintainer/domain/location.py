"""Where tables lie, so that no table's files are taken for another's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from re import compile as compile_regex

_URL = compile_regex(r"([A-Za-z][A-Za-z0-9+.-]*):/*(.*)")
# Their authority is a server, and the same directory may be written with and without it: it is left
# out.
_FILE_SYSTEMS = frozenset({"file", "hdfs", "viewfs", "webhdfs"})
HDFS_SCHEMES = ("hdfs:", "viewfs:")  # so locations begin that this process reads and lists itself
PLACE_PROPERTIES = (
    "write.data.path",
    "write.metadata.path",
    "write.object-storage.path",
    "write.folder-storage.path",
)


@dataclass(frozen=True, slots=True)
class Place:
    """A directory that a table writes to, or wrote to before it was dropped; or that a catalog has
    for a table which is none of Iceberg's.
    """

    path: str  # as normalise_path() writes it
    table: str  # its full name
    table_uuid: str  # "" where it is none of Iceberg's
    is_gone: bool = (
        False  # the table was dropped, or has another name: whether its files went is not known
    )
    seen_at: datetime | None = (
        None  # of a table that is none of Iceberg's: when its catalog was asked last
    )


def normalise_path(location: str) -> str:
    """One text for every spelling of a directory, ending with a slash: schemes and servers of file
    systems left out, buckets kept.
    """
    found = _URL.fullmatch(location.strip())
    scheme, rest = (found[1].lower(), found[2]) if found else ("file", location.strip())
    if (
        scheme in _FILE_SYSTEMS
        and location.strip().startswith(f"{found[1]}://" if found else "\0")
        and not location.strip().startswith(f"{scheme}:///")
    ):
        rest = rest.partition("/")[2]  # the server
    parts = [part for part in rest.split("/") if part not in {"", "."}]
    return ("/" if scheme in _FILE_SYSTEMS else "") + "".join(f"{part}/" for part in parts)


def paths_of(location: str, properties: Mapping[str, str]) -> tuple[str, ...]:
    """Every directory that the table writes to, its location first."""
    written = [
        location,
        *(properties[name] for name in PLACE_PROPERTIES if properties.get(name, "").strip()),
    ]
    return tuple(dict.fromkeys(normalise_path(path) for path in written))


def ancestors_of(path: str) -> tuple[str, ...]:
    """The directory itself and all that it lies in, the widest first."""
    ends = [index + 1 for index, character in enumerate(path) if character == "/"]
    return tuple(path[:end] for end in ends)


def overlap(first: str, second: str) -> bool:
    """True when the directories are the same or one lies in the other."""
    return first.startswith(second) or second.startswith(first)


def respell(location: str, paths: Iterable[str]) -> Iterator[str]:
    """Paths that lie in the location, each as it is written from the location's own spelling on;
    one that does not lie there stays as it is.
    """
    own, spelt = normalise_path(location), location.rstrip("/") + "/"
    known = spelt
    for path in paths:
        if not path.startswith(known):
            known = next(
                (wider for wider in ancestors_of(path) if normalise_path(wider) == own), known
            )
        yield spelt + path.removeprefix(known) if path.startswith(known) else path
