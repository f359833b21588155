"""The local lake of the demo: real tables with real problems."""

from maintainer.adapters.demo.lake import LakeReport, build_lake, lake_is_complete
from maintainer.adapters.demo.spark import SparkLaunch

__all__ = ["LakeReport", "SparkLaunch", "build_lake", "lake_is_complete"]
