"""The keys of thresholds, with the metric and the direction of each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from maintainer.domain.policy import Metric

THRESHOLDS: Mapping[str, tuple[Metric, Literal["above", "below"]]] = MappingProxyType(
    {
        "average_file_size_below": (Metric.AVERAGE_FILE_SIZE_BYTES, "below"),
        "small_file_count_above": (Metric.SMALL_FILE_COUNT, "above"),
        "small_file_ratio_above": (Metric.SMALL_FILE_RATIO, "above"),
        "manifest_count_above": (Metric.MANIFEST_COUNT, "above"),
        "snapshot_count_above": (Metric.SNAPSHOT_COUNT, "above"),
        "oldest_snapshot_age_above": (Metric.OLDEST_SNAPSHOT_AGE_SECONDS, "above"),
        "position_delete_file_count_above": (Metric.POSITION_DELETE_FILE_COUNT, "above"),
        "equality_delete_file_count_above": (Metric.EQUALITY_DELETE_FILE_COUNT, "above"),
        "deletion_vector_count_above": (Metric.DELETION_VECTOR_COUNT, "above"),
        "dangling_delete_file_count_above": (Metric.DANGLING_DELETE_FILE_COUNT, "above"),
        "delete_ratio_above": (Metric.DELETE_RATIO, "above"),
        "delete_file_ratio_above": (Metric.DELETE_FILE_RATIO, "above"),
        "manifest_excess_above": (Metric.MANIFEST_EXCESS, "above"),
        "live_file_ratio_below": (Metric.LIVE_FILE_RATIO, "below"),
        "metadata_file_count_above": (Metric.METADATA_FILE_COUNT, "above"),
    }
)
