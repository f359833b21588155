"""The configuration file, its environment variables and their bounds."""

from maintainer.settings.catalogs import StorageSettings
from maintainer.settings.loading import FILE_VARIABLE, load_settings
from maintainer.settings.model import Settings
from maintainer.settings.steps import ScanSettings
from maintainer.settings.telemetry import NotificationSettings

__all__ = [
    "FILE_VARIABLE",
    "NotificationSettings",
    "ScanSettings",
    "Settings",
    "StorageSettings",
    "load_settings",
]
