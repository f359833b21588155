"""Kinds of objects, as the API server names them."""

from __future__ import annotations

from dataclasses import dataclass


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
        """Return what a manifest says."""
        return f"{self.group}/{self.version}" if self.group else self.version


POD = Kind("", "v1", "Pod", "pods")
REVIEW = Kind("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews")
