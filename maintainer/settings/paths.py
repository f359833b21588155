"""Resolves paths in the settings; relative ones start at the configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import normpath
from pathlib import Path
from re import compile as compile_regex

_SCHEME = compile_regex(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SQLITE = compile_regex(r"(sqlite(?:\+[a-z]+)?:///)([^?]*)(.*)")


def read_path(value: object) -> object:
    """Expand the home directory; values that are not texts are left to the model."""
    return Path(value).expanduser() if isinstance(value, str) else value


def join(base: Path, path: Path | str) -> Path:
    """Join and remove ``..``: a warehouse's path is compared as text with its tables' locations."""
    return Path(normpath(base / path))


def find_sqlite_directory(url: str) -> Path | None:
    """Return the directory of a SQLite store's file; None for any other store."""
    match = _SQLITE.fullmatch(url)
    return Path(match[2]).parent if match else None


def is_missing_sqlite(url: str) -> bool:
    """Return True for a SQLite store whose file does not exist yet."""
    match = _SQLITE.fullmatch(url)
    return match is not None and not match[2].startswith("file:") and not Path(match[2]).exists()


def resolve_sqlite(url: str, base: Path) -> str:
    """Make the path of a SQLite URL absolute; return any other URL unchanged."""
    match = _SQLITE.fullmatch(url)
    if match is None or match[2] in {"", ":memory:"} or match[2].startswith("file:"):
        return url
    return f"{match[1]}{join(base, match[2])}{match[3]}"


def resolve_properties(properties: Mapping[str, str], base: Path) -> dict[str, str]:
    """Resolve the warehouse of a SQL catalog; elsewhere a warehouse without a scheme is a name."""
    resolved = dict(properties)
    uri = properties.get("uri", "")
    if uri:
        resolved["uri"] = resolve_sqlite(uri, base)
    is_sql = properties.get("type", "").lower() == "sql" or (
        "type" not in properties and uri.startswith(("sqlite", "postgresql"))
    )
    warehouse = properties.get("warehouse", "")
    if is_sql and warehouse and _SCHEME.match(warehouse) is None:
        resolved["warehouse"] = f"file://{join(base, warehouse)}"
    return resolved
