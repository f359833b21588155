"""Objects of the API server: their kinds, and parts of their documents, which may lack any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Manifest = dict[str, object]

_MAX_CHARACTERS = 400
_NOTHING: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object."""

    group: str  # empty: the core group
    version: str
    name: str
    plural: str
    origin: str = "operator"  # the program that installs the kind in a cluster

    @property
    def api_version(self) -> str:
        """The apiVersion in a manifest."""
        return f"{self.group}/{self.version}" if self.group else self.version


POD = Kind("", "v1", "Pod", "pods")
REVIEW = Kind("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews")


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
