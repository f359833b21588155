"""The API server of Kubernetes, for the launcher of drivers and for policies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from maintainer.domain.errors import ClusterUnavailableError

if TYPE_CHECKING:
    from maintainer.adapters.kubernetes.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Access:
    """One namespace, and the access to its API server."""

    namespace: str
    kubeconfig: Path | None = None  # None: the daemon's service account, or else $KUBECONFIG
    context: str = ""  # of the kubeconfig; empty: its current context
    timeout_seconds: float = 10.0  # of each request


def connect(access: Access) -> Cluster:
    """Connect; nothing is asked yet. ClusterUnavailableError without the optional extra."""
    try:
        # These imports take a second, and only a cluster needs them.
        from maintainer.adapters.kubernetes.cluster import Cluster  # noqa: PLC0415
    except ImportError as error:
        raise ClusterUnavailableError(
            "the package lacks its extra: install iceberg-maintainer[kubernetes]"
        ) from error
    return Cluster(access)
