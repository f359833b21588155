"""Python packages that only some installations need; each comes with an extra of this package."""

from __future__ import annotations

from importlib.util import find_spec


def say_missing(module: str, extra: str, purpose: str) -> str:
    """Say what needs the missing package, and which command installs it."""
    return (
        f"{purpose} needs the Python package {module.replace('_', '-')}, which is not installed; "
        f"install it with: pip install 'iceberg-maintainer[{extra}]'"
    )


def require_package(module: str, extra: str, purpose: str) -> None:
    """Check that a package is installed; ImportError says what needs it and how to install it."""
    try:
        found = find_spec(module)
    except ModuleNotFoundError:  # the package around the module is not installed
        found = None
    if found is None:
        raise ImportError(say_missing(module, extra, purpose))
