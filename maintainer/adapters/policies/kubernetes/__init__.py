"""Policies that are resources of Kubernetes: IcebergTablePolicy."""

from __future__ import annotations

from maintainer.adapters.policies.kubernetes.source import (
    KubernetesPolicies,
    KubernetesPolicyOptions,
)

__all__ = ["KubernetesPolicies", "KubernetesPolicyOptions"]
