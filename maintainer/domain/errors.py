"""The errors that a user can see. Each message names the thing, the value and the bound."""

from __future__ import annotations


class MaintainerError(Exception):
    """Base of all errors for users: one clear line, never a traceback."""


class InvalidValueError(MaintainerError):
    """A given value is malformed or out of bounds."""


class ConfigurationError(MaintainerError):
    """The configuration or a policy file cannot be used.

    The message starts with ``file:line`` if it is known.
    """


class UnknownTableError(MaintainerError):
    """No catalog has a table of that name."""


class CatalogUnavailableError(MaintainerError):
    """A catalog cannot be reached or refuses the daemon. Other catalogs continue."""


class StoreUnavailableError(MaintainerError):
    """The store cannot be read or written: full or read-only disk, lost connection."""


class RunnerUnavailableError(MaintainerError):
    """Spark cannot start: no Java, missing jars, or it ended during start-up."""


class ClusterUnavailableError(RunnerUnavailableError):
    """The Kubernetes API server cannot be reached or refuses the daemon."""


class InvalidTransitionError(MaintainerError):
    """A job was asked for a state change that the transition table does not have."""


class CredentialsRefusedError(MaintainerError):
    """A token or a sign-in is not valid."""


class ProviderUnavailableError(MaintainerError):
    """The OpenID provider cannot be reached, or answers what it must not."""
