"""What an action would achieve: Iceberg's own planning, recomputed from health."""

from maintainer.policy.estimate_expiry import ExpiryEstimate, estimate_expire_snapshots
from maintainer.policy.estimate_files import estimate_rewrite_data_files
from maintainer.policy.estimate_manifests import MANIFEST_EXCESS_FACTOR, ManifestEstimate, estimate_rewrite_manifests, is_manifest_rewrite_worthwhile

__all__ = [
    "MANIFEST_EXCESS_FACTOR",
    "ExpiryEstimate",
    "ManifestEstimate",
    "estimate_expire_snapshots",
    "estimate_rewrite_data_files",
    "estimate_rewrite_manifests",
    "is_manifest_rewrite_worthwhile",
]
