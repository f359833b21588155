"""Reads parts of the API server's documents, which may lack any of them."""

from __future__ import annotations

from collections.abc import Mapping

Manifest = dict[str, object]

_MAX_CHARACTERS = 400
_NOTHING: Mapping[str, object] = {}


def part(document: Mapping[str, object], *path: str) -> Mapping[str, object]:
    """Return the mapping at the path; empty if it is absent or something else."""
    found: object = document
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else _NOTHING


def parts(document: Mapping[str, object], *path: str) -> list[Mapping[str, object]]:
    """Return the mappings of the list at the path."""
    found = part(document, *path[:-1]).get(path[-1])
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def text(document: Mapping[str, object], *path: str) -> str:
    """Return the text at the path in one line of bounded length; empty if it is absent."""
    found = part(document, *path[:-1]).get(path[-1])
    line = "" if found is None else " ".join(str(found).split())
    return line if len(line) <= _MAX_CHARACTERS else line[: _MAX_CHARACTERS - 1] + "…"


def name_of(document: Mapping[str, object]) -> str:
    return text(document, "metadata", "name")
