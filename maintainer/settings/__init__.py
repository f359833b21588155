"""The configuration file, its environment variables and their bounds."""

from maintainer.settings.catalogs import StorageSettings
from maintainer.settings.environment import FILE_VARIABLE
from maintainer.settings.loading import load_settings
from maintainer.settings.model import Settings
from maintainer.settings.notifications import NotificationSettings
from maintainer.settings.steps import ScanSettings

__all__ = [
    "FILE_VARIABLE",
    "NotificationSettings",
    "ScanSettings",
    "Settings",
    "StorageSettings",
    "load_settings",
]
