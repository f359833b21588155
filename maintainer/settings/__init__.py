"""The configuration file, its environment variables and their bounds."""

from maintainer.settings.catalogs import CatalogSettings, StorageSettings
from maintainer.settings.environment import FILE_VARIABLE
from maintainer.settings.loading import DEFAULT_FILE, load_settings
from maintainer.settings.model import Settings
from maintainer.settings.notifications import NoticeTemplate, NotificationSettings
from maintainer.settings.polaris import PolarisSettings
from maintainer.settings.server import ServerSettings
from maintainer.settings.spark import SparkSettings
from maintainer.settings.steps import (
    PlanSettings,
    PruneSettings,
    ReviewSettings,
    ScanSettings,
    SubmitSettings,
    WatchSettings,
)

__all__ = [
    "DEFAULT_FILE",
    "FILE_VARIABLE",
    "CatalogSettings",
    "NoticeTemplate",
    "NotificationSettings",
    "PlanSettings",
    "PolarisSettings",
    "PruneSettings",
    "ReviewSettings",
    "ScanSettings",
    "ServerSettings",
    "Settings",
    "SparkSettings",
    "StorageSettings",
    "SubmitSettings",
    "WatchSettings",
    "load_settings",
]
