"""The errors a user can meet. Each message names the thing, the value and the bound."""

from __future__ import annotations


class MaintainerError(Exception):
    """Base of every error that is the user's to read: one clear line, never a traceback."""


class InvalidValueError(MaintainerError):
    """A value that was given is malformed or out of its bounds."""


class ConfigurationError(MaintainerError):
    """The configuration or a policy file cannot be used; the message starts with ``file:line``
    where there is one.
    """


class UnknownTableError(MaintainerError):
    """No catalog has a table of that name."""


class CatalogUnavailableError(MaintainerError):
    """A catalog cannot be reached or refuses us; the rest of the fleet goes on."""


class StoreUnavailableError(MaintainerError):
    """The store cannot be read or written: full or read-only disk, lost connection."""


class RunnerUnavailableError(MaintainerError):
    """Spark cannot be started: no Java, missing jars, or it ended during start-up."""


class InvalidTransitionError(MaintainerError):
    """A job was asked to move along an edge that its transition table does not have."""
