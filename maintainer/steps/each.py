"""One table's trouble is not the others': every one has its turn, and what went wrong is told afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from maintainer.domain.errors import StoreUnavailableError

T = TypeVar("T")
R = TypeVar("R")


def each(items: Iterable[T], do: Callable[[T], R]) -> list[R]:
    """Do it for every item; the first error is raised when all have had their turn, that of the store, without which nothing goes, at once."""
    done: list[R] = []
    errors: list[Exception] = []
    for item in items:
        try:
            done.append(do(item))
        except StoreUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug that one table brings out must not leave the others without maintenance
            errors.append(error)
    if errors:
        if len(errors) > 1:
            errors[0].add_note(f"and {len(errors) - 1} more of {len(done) + len(errors)} went wrong")
        raise errors[0]
    return done
